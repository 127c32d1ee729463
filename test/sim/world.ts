import { seedNode } from "./one-thread.ts";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openProcess } from "../../src/main/process.ts";
import { type Running, startServer } from "../../src/main/service.ts";
import { type Config, readConfig } from "../../src/main/settings/config.ts";
import { Chance } from "./chance.ts";
import { LATER_MAX } from "./store/later-schema.ts";
import { type Ground, type Host, newHost, type Received, simulatedMachine } from "./machine.ts";
import { type Operator, openOperator } from "./operator.ts";
import { newPlace, type Place, stepAt } from "./place.ts";
import { SimulatedStore } from "./store/store.ts";
import { type Lifetime, newLife, Timeline } from "./timeline.ts";
import { inject } from "../http/inject.ts";

export interface WorldOptions {
  readonly seed: number;
  /** Gets every line of the trace. */
  readonly trace?: (line: string) => void;
}

export interface Request {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly from: string;
}

export interface Reply {
  /** 0: the line was cut before an answer came. */
  readonly status: number;
  /** When it was asked for. */
  readonly sentMs?: number;
  readonly body: string;
  readonly retryAfter: number | undefined;
  /** Decided without asking, because something is spent: not charged. */
  readonly isUncharged?: boolean;
}

const CUT: Reply = { status: 0, body: "", retryAfter: undefined };

/** A client gives up after this. */
const REQUEST_MS = 120_000;

/** What is of interest of what `inject` returns. */
interface Injected {
  readonly statusCode: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

function replyOf({ statusCode: status, body, headers }: Injected): Reply {
  const retry = headers["retry-after"];
  const retryAfter = retry === undefined ? undefined : Number(retry);
  const isUncharged = String(headers["gatepost-notice"]).includes("uncharged");
  return { status, body, retryAfter, isUncharged };
}

const folder = mkdtempSync(join(tmpdir(), "gatepost-sim-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const tiersFile = join(folder, "tiers.json");
writeFileSync(tiersFile, JSON.stringify({ free: { daily: 12 }, anonymous: { daily: 16 } }));

const SETTINGS = {
  GATEPOST_DATA_DIR: folder,
  GATEPOST_DNS_SERVERS: "192.0.2.53",
  GATEPOST_LISTS_REFRESH: "off",
  GATEPOST_PUBLIC_URL: "http://gatepost.test",
  GATEPOST_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
  GATEPOST_TIERS_FILE: tiersFile,
  PORT: "0",
} as const;

/** One embedded server, its disk, name servers and receivers under one seed. */
export class World {
  readonly timeline = new Timeline();
  readonly chance: Chance;
  readonly store: SimulatedStore;
  readonly names = { silentUntilMs: 0, isEbb: false };
  /** Webhooks since the last rest. */
  readonly received: Received[] = [];
  /** How often a session was announced. */
  readonly told = new Map<string, number>();
  /** Faults that a process logged. */
  readonly logged = new Map<string, number>();
  readonly places: readonly Place[];
  /** Starts that failed; none should, but while the store fails. */
  readonly failedStarts: unknown[] = [];
  kills = 0;
  /** When, of the bout that runs. */
  killedMs: number[] = [];
  readonly #ground: Ground;
  readonly #config: Config;
  readonly #hash = createHash("sha256");
  readonly #trace: (line: string) => void;

  constructor({ seed, trace = () => undefined }: WorldOptions) {
    seedNode(seed);
    this.chance = new Chance(seed);
    this.#trace = trace;
    this.store = new SimulatedStore(this.timeline, this.chance.fork());
    this.#config = readConfig(SETTINGS);
    this.#ground = {
      timeline: this.timeline,
      chance: this.chance.fork(),
      store: this.store,
      names: this.names,
      lock: { holder: undefined },
      receive: (webhook) => this.#receive(webhook),
      trace: (line) => this.note(line),
      logged: (_life, _level, event) => {
        this.logged.set(event, (this.logged.get(event) ?? 0) + 1);
      },
    };
    this.places = [newPlace("server", 0)];
  }

  /** Adds a line to the trace, which tells two runs of one seed apart. */
  note(line: string): void {
    const text = `${this.timeline.nowMs.toFixed(3)} ${line}`;
    this.#hash.update(text).update("\n");
    this.#trace(text);
  }

  hash(): string {
    return this.#hash.copy().digest("hex");
  }

  async operator(): Promise<Operator> {
    const host = newHost({ life: newLife("operator"), step: () => undefined, later: 0 });
    const machine = simulatedMachine(this.#ground, host);
    const opened = await openProcess(this.#config, { machine }, openOperator);
    this.store.watchChunks();
    return opened;
  }

  /** Starts what does not run; a start that fails is tried again a second later. */
  start(place: Place): void {
    place.starts += 1;
    place.moment = undefined;
    const name = `${place.name}.${String(place.starts)}`;
    const life = newLife(name);
    const step = (sql: string): void => stepAt(place, { life }, sql);
    const host = newHost({ life, step, later: place.later });
    place.host = host;
    this.note(`${name} starts`);
    const machine = simulatedMachine(this.#ground, host);
    const started: Promise<Pick<Running, "stop">> = startServer(this.#config, { machine });
    started.then(
      ({ stop }) => void (host.stop = stop),
      (fault: unknown) => this.#didNotStart(place, host, fault),
    );
  }

  #didNotStart(place: Place, { life, later }: Host, fault: unknown): void {
    if (!life.isAlive) return;
    this.note(`${life.name} did not start`);
    this.#gone(place, life);
    // Its operator gives it the newest program, as the sentence says.
    const isTold = fault instanceof Error && fault.message.includes("run the newer version");
    if (later === this.store.later || !isTold) this.failedStarts.push(fault);
    place.later = Math.max(later, this.store.later);
    this.timeline.after(undefined, 1_000, () => this.start(place));
  }

  /** Ends the process as SIGKILL does, and starts another one later. */
  kill(place: Place, restartMs: number): void {
    const life = place.host?.life;
    if (life?.isAlive !== true) return;
    this.kills += 1;
    this.killedMs.push(this.timeline.nowMs);
    this.note(`${life.name} is killed`);
    this.#gone(place, life);
    this.timeline.after(undefined, restartMs, () => this.start(place));
  }

  /** Stops the process as SIGTERM does, and starts it again; `isNewer`: as a later version. */
  restart(place: Place, isNewer: boolean): void {
    const { host } = place;
    if (host?.stop === undefined || !host.life.isAlive || host.isStopping) return;
    const { life, stop } = host;
    this.note(`${life.name} is stopped`);
    const { later } = this.store;
    if (isNewer) place.later = place.later < later ? later : Math.min(later + 1, LATER_MAX);
    host.isStopping = true;
    host.app = undefined;
    const ended = (): void => {
      if (!life.isAlive) return;
      this.note(`${life.name} has stopped`);
      this.#gone(place, life);
      this.timeline.after(undefined, this.chance.between(100, 1_000), () => this.start(place));
    };
    this.timeline.after(life, 0, () => void stop().then(ended, ended));
  }

  #gone(place: Place, life: Lifetime): void {
    life.isAlive = false;
    place.host = undefined;
    this.store.died(life);
    for (const cut of place.cut) cut();
    place.cut.clear();
  }

  #receive(webhook: Received): number {
    this.note(`receiver ${webhook.url}`);
    this.received.push(webhook);
    return 200;
  }

  /** Everything stands still for so long. */
  leap(ms: number): void {
    this.timeline.leap(ms);
  }

  /** A server that takes requests; undefined while none does. */
  serving(): Place | undefined {
    const up = this.places.filter(({ host }) => host?.app !== undefined && host.life.isAlive);
    return up.length === 0 ? undefined : this.chance.pick(up);
  }

  /** Sends a request over the network; `status` 0 when no server is there or the line is cut. */
  async ask(request: Request): Promise<Reply> {
    await this.timeline.sleep(this.chance.between(1, 30));
    const place = this.serving();
    const host = place?.host;
    if (place === undefined || host?.app === undefined) return CUT;
    const { app, life } = host;
    const { method, url, headers = {}, body, from } = request;
    const reply = new Promise<Reply>((resolve) => {
      const cut = (): void => resolve(CUT);
      place.cut.add(cut);
      const giveUp = this.timeline.after(undefined, REQUEST_MS, cut);
      host.underWay += 1;
      const answer = async (): Promise<void> => {
        const answered = await inject(app, {
          method,
          url,
          headers: { host: "gatepost.test", ...headers },
          ...(body !== undefined && { payload: body }),
          remoteAddress: from,
        });
        host.underWay -= 1;
        giveUp();
        if (!life.isAlive) return;
        place.cut.delete(cut);
        resolve(replyOf(answered));
      };
      this.timeline.after(life, 0, () => void answer());
    });
    const given = await reply;
    await this.timeline.sleep(this.chance.between(1, 30));
    return given;
  }
}
