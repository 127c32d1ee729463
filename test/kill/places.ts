import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type Home, type ServiceProcess, startService } from "../e2e/service-process.ts";
import type { Chance } from "../sim/chance.ts";
import type { Fate, Order } from "./fate.ts";

/** How a round ends for one process. */
export type Strike =
  /** SIGKILL at a statement in the store. */
  | ({ readonly kind: "statement" } & Order)
  /** SIGKILL from outside. */
  | { readonly kind: "moment"; readonly afterMs: number }
  /** SIGSTOP and SIGCONT. */
  | { readonly kind: "freeze"; readonly afterMs: number; readonly forMs: number }
  /** It goes on. */
  | { readonly kind: "none" };

/** A process that did not come to its statement ends then. */
const ROUND_MS = 900;
/** The bulk thread asks for chunks and little else. */
const STATEMENTS = { main: 150, bulk: 40 };

const WHEN = ["before", "after"] as const;

/** At one of the first statements of a round: every process comes that far. */
export function earlyKill(chance: Chance): Strike {
  return { kind: "statement", thread: "main", count: 1 + chance.below(5), when: chance.pick(WHEN) };
}

/** A kill at a moment or at a statement, as chance has it. */
export function anyKill(chance: Chance, hasThread: boolean): Strike {
  if (chance.isTrue(0.3)) return { kind: "moment", afterMs: chance.between(20, ROUND_MS) };
  const thread = hasThread && chance.isTrue(0.3) ? "bulk" : "main";
  const when = chance.pick(WHEN);
  return { kind: "statement", thread, count: 1 + chance.below(STATEMENTS[thread]), when };
}

const LAST_LENGTH = 1_500;

const PRELOAD = new URL("./dying.js", import.meta.url).href;

/** A place where a server or worker runs, ends and starts again. */
export class Place {
  readonly command: "serve" | "worker";
  running: ServiceProcess | undefined;
  /** How often it ended at its statement. */
  fell = 0;
  /** The end of the log of the process that ended last. */
  lastLines = "";
  strike: Strike = { kind: "none" };
  readonly #home: Home;
  readonly #fate: Fate;

  constructor(command: Place["command"], home: Home, fate: Fate) {
    this.command = command;
    this.#home = home;
    this.#fate = fate;
  }

  /** Starts what does not run. `under`: a program that runs it. */
  async start(under: readonly string[] = []): Promise<void> {
    if (this.running !== undefined) return;
    const options = [process.env["NODE_OPTIONS"], `--import ${PRELOAD}`].filter(Boolean);
    const settings = { ...this.#fate, NODE_OPTIONS: options.join(" ") };
    this.#order();
    const { command } = this;
    const running = await startService(this.#home, settings, { command, under });
    this.running = running;
    running.child.once("exit", () => {
      this.running = undefined;
      this.lastLines = running.log().slice(-LAST_LENGTH);
    });
  }

  /** Lets the strike happen; resolves when the process has ended, or when the strike is over. */
  async struck(): Promise<void> {
    const { strike } = this;
    const child = this.running?.child;
    if (child === undefined || strike.kind === "none") return;
    const isOver = new AbortController();
    const ended = once(child, "exit", isOver).catch(() => undefined);
    const within = (ms: number): Promise<unknown> => Promise.race([ended, pause(ms)]);
    switch (strike.kind) {
      case "freeze":
        await within(strike.afterMs);
        child.kill("SIGSTOP");
        await within(strike.forMs);
        child.kill("SIGCONT");
        await within(ROUND_MS);
        isOver.abort(); // it goes on, and listens no longer
        return;
      case "moment":
        await within(strike.afterMs);
        break;
      case "statement":
        this.#order();
        child.kill("SIGUSR2");
        await within(ROUND_MS);
        if (this.running === undefined) this.fell += 1;
    }
    child.kill("SIGKILL");
    await ended;
  }

  /** The order that the process reads. */
  #order(): void {
    const none: Order = { thread: "main", count: Infinity, when: "before" };
    const order = this.strike.kind === "statement" ? this.strike : none;
    writeFileSync(this.#fate.KILL_ORDER, JSON.stringify(order));
  }

  async stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null | undefined> {
    return await this.running?.stop(signal);
  }
}
