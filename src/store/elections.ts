import type { Clock } from "../base/clock.ts";
import { type End, every } from "../base/every.ts";
import { inTime } from "../base/in-time.ts";
import type { Log } from "../base/log.ts";

/** Who of several processes does what one of them at a time does. `duty` names it. */
export interface Elections {
  /** Takes a duty that is free, or still has it. `lost` is called once if it is lost before it is resigned. */
  hold(duty: string, lost: () => void): Promise<boolean>;
  /** The duty is free at once; nothing when another process has it. */
  resign(duty: string): Promise<void>;
}

export const alone: Elections = {
  hold: () => Promise.resolve(true),
  resign: () => Promise.resolve(),
};

export type Begin = () => Promise<End>;

interface WhileElectedDeps {
  readonly elections: Elections;
  readonly duty: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Candidacy {
  stop(): Promise<void>;
}

export const CAMPAIGN_EVERY_MS = 5_000;
/** After a begin that failed others have their turn. */
export const FAILED_REST_MS = 60_000;
const ANSWER_MS = 5_000;

/** Begins when this process is elected and ends when it is no more, again and again until it is stopped. */
export function whileElected(deps: WhileElectedDeps, begin: Begin): Candidacy {
  const candidacy = new Campaign(deps, begin);
  candidacy.start();
  return candidacy;
}

class Campaign implements Candidacy {
  readonly #deps: WhileElectedDeps;
  readonly #begin: Begin;
  #isElected = false;
  #isStopped = false;
  #end: End | undefined;
  #settling: Promise<void> | undefined;
  #endAsking: End = () => Promise.resolve();
  #restUntilMs = -Infinity;
  #isOutOfTouch = false;

  constructor(deps: WhileElectedDeps, begin: Begin) {
    this.#deps = deps;
    this.#begin = begin;
  }

  start(): void {
    const { clock } = this.#deps;
    const failed = (fault: unknown): void => this.#sayOutOfTouch(fault);
    this.#endAsking = every({ ms: CAMPAIGN_EVERY_MS, firstMs: 0, clock, failed }, () =>
      this.#ask(),
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const asked = this.#endAsking();
    this.#lose("stopped");
    await this.#settling;
    await this.#atMost(ANSWER_MS, this.#leave(asked));
  }

  async #ask(): Promise<void> {
    const { elections, duty } = this.#deps;
    if (this.#isResting()) return;
    let isHeld: boolean | undefined;
    try {
      isHeld = await this.#atMost(
        ANSWER_MS,
        elections.hold(duty, () => this.#lose("lost")),
      );
    } catch (fault) {
      this.#sayOutOfTouch(fault);
    }
    if (isHeld === undefined) return; // nobody could say
    this.#isOutOfTouch = false;
    if (isHeld) this.#win();
    else this.#lose("taken");
  }

  #sayOutOfTouch(fault: unknown): void {
    if (!this.#isOutOfTouch) this.#deps.log.error("election.unreachable", fault, this.#its());
    this.#isOutOfTouch = true;
  }

  #win(): void {
    if (this.#isStopped || this.#isResting()) return;
    this.#isElected = true;
    this.#settle();
  }

  #lose(why: "stopped" | "taken" | "lost"): void {
    if (this.#isElected && why !== "stopped") {
      this.#deps.log.warn("duty.lost", { ...this.#its(), why });
    }
    this.#isElected = false;
    this.#settle();
  }

  /** Starts and ends run one after the other; a change meanwhile takes effect afterwards. */
  #settle(): void {
    if (this.#settling === undefined && !this.#isSettled()) this.#settling = this.#change();
  }

  #isSettled(): boolean {
    return this.#isElected === (this.#end !== undefined);
  }

  async #change(): Promise<void> {
    while (!this.#isSettled()) {
      if (this.#end === undefined) await this.#tryToBegin();
      else await this.#finish(this.#end);
    }
    this.#settling = undefined;
  }

  async #tryToBegin(): Promise<void> {
    const { log, clock } = this.#deps;
    try {
      this.#end = await this.#begin();
      log.info("duty.started", this.#its());
    } catch (fault) {
      log.error("duty.failed", fault, this.#its());
      this.#restUntilMs = clock.monotonicMs() + FAILED_REST_MS;
      this.#isElected = false;
      await this.#atMost(ANSWER_MS, this.#resign());
    }
  }

  async #finish(end: End): Promise<void> {
    const { log } = this.#deps;
    try {
      await end();
      log.info("duty.ended", this.#its());
    } catch (fault) {
      log.error("duty.failed", fault, this.#its());
    } finally {
      this.#end = undefined;
    }
  }

  /** A question under way could be granted after the resignation. */
  async #leave(asked: Promise<void>): Promise<void> {
    await asked;
    await this.#resign();
  }

  async #resign(): Promise<void> {
    const { elections, duty } = this.#deps;
    try {
      await elections.resign(duty);
    } catch (fault) {
      this.#sayOutOfTouch(fault); // the duty is free when the session ends
    }
  }

  /** Does not wait for a store that does not answer: undefined if it took longer. */
  #atMost<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
    return inTime(work, { timeoutMs, late: undefined, clock: this.#deps.clock });
  }

  #isResting(): boolean {
    return this.#deps.clock.monotonicMs() < this.#restUntilMs;
  }

  #its(): { readonly duty: string } {
    return { duty: this.#deps.duty };
  }
}

export type Duties = Readonly<Record<string, Begin>>;

export interface DutyDeps {
  readonly elections: Elections;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs each duty while this process is elected to it; `stop` ends them all and makes room for others. */
export function startDuties(duties: Duties, deps: DutyDeps): Candidacy {
  const candidacies = Object.entries(duties).map(([duty, begin]) =>
    whileElected({ ...deps, duty }, begin),
  );
  return {
    async stop() {
      await Promise.all(candidacies.map((each) => each.stop()));
    },
  };
}
