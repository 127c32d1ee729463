import { type Clock, inTime } from "../base/clock.ts";
import { type End, every } from "../base/every.ts";
import type { Log } from "../base/log.ts";

export interface Elections {
  /** Takes a duty that is free, or still has it. `lost` is called once if it is lost before it is resigned. */
  take(duty: string, lost: () => void): Promise<boolean>;
  resign(duty: string): Promise<void>;
  free(): Promise<readonly string[]>;
}

export const alone: Elections = {
  take: () => Promise.resolve(true),
  resign: () => Promise.resolve(),
  free: () => Promise.resolve([]),
};

export type Begin = () => Promise<End>;

export interface DutyDeps {
  readonly elections: Elections;
  readonly clock: Clock;
  readonly log: Log;
}

export const CAMPAIGN_EVERY_MS = 5_000;
/** After a begin that failed others have their turn. */
export const FAILED_REST_MS = 60_000;
const ANSWER_MS = 5_000;

/** Begins when this process is elected and ends when it is no more, again and again until it is stopped. */
class Campaign {
  readonly #deps: DutyDeps;
  readonly #its: { readonly duty: string };
  readonly #begin: Begin;
  #isElected = false;
  #isStopped = false;
  #end: End | undefined;
  #changing: Promise<void> | undefined;
  readonly #endAsking: End;
  #restUntilMs = -Infinity;
  #isOutOfTouch = false;

  constructor(deps: DutyDeps, duty: string, begin: Begin) {
    this.#deps = deps;
    this.#its = { duty };
    this.#begin = begin;
    const { clock } = deps;
    const failed = (fault: unknown): void => this.#sayOutOfTouch(fault);
    const ask = (): Promise<void> => this.#ask();
    this.#endAsking = every({ ms: CAMPAIGN_EVERY_MS, firstMs: 0, clock, failed }, ask);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const asked = this.#endAsking();
    this.#elect(false);
    await this.#changing;
    // A question under way could be granted after the resignation.
    await this.#inTime(asked.then(() => this.#resign()));
  }

  async #ask(): Promise<void> {
    const { elections } = this.#deps;
    if (this.#isResting()) return;
    const lost = (): void => this.#lose("lost");
    const isTaken = await this.#inTime(elections.take(this.#its.duty, lost));
    if (isTaken === undefined) return; // nobody could say
    this.#isOutOfTouch = false;
    if (!isTaken) this.#lose("taken");
    else if (!this.#isStopped && !this.#isResting()) this.#elect(true);
  }

  #sayOutOfTouch(fault: unknown): void {
    if (!this.#isOutOfTouch) this.#deps.log.error("election.unreachable", fault, this.#its);
    this.#isOutOfTouch = true;
  }

  #lose(why: "taken" | "lost"): void {
    if (this.#isElected) this.#deps.log.warn("duty.lost", { ...this.#its, why });
    this.#elect(false);
  }

  /** Starts and ends run one after the other; a change meanwhile takes effect afterwards. */
  #elect(isElected: boolean): void {
    this.#isElected = isElected;
    if (!this.#isDone()) this.#changing ??= this.#change();
  }

  #isResting(): boolean {
    return this.#deps.clock.monotonicMs() < this.#restUntilMs;
  }

  #isDone(): boolean {
    return this.#isElected === (this.#end !== undefined);
  }

  async #change(): Promise<void> {
    const { log, clock } = this.#deps;
    while (!this.#isDone()) {
      const end = this.#end;
      try {
        this.#end = end === undefined ? await this.#begin() : await end().then(() => undefined);
        log.info(end === undefined ? "duty.started" : "duty.ended", this.#its);
      } catch (fault) {
        log.error("duty.failed", fault, this.#its);
        this.#end = undefined;
        if (end !== undefined) continue;
        this.#restUntilMs = clock.monotonicMs() + FAILED_REST_MS;
        this.#isElected = false;
        await this.#inTime(this.#resign());
      }
    }
    this.#changing = undefined;
  }

  /** A resignation that fails needs no more: the duty is free when the session ends. */
  #resign(): Promise<void> {
    const { elections } = this.#deps;
    return elections.resign(this.#its.duty).catch((fault: unknown) => this.#sayOutOfTouch(fault));
  }

  /** Does not wait for a store that does not answer: undefined if it took longer. */
  #inTime<T>(work: Promise<T>): Promise<T | undefined> {
    return inTime(work, { timeoutMs: ANSWER_MS, late: undefined, clock: this.#deps.clock });
  }
}

export type Duties = Readonly<Record<string, Begin>>;

export function startDuties(
  duties: Duties,
  deps: DutyDeps,
): { readonly stop: () => Promise<void> } {
  const campaigns = Object.entries(duties).map(([duty, begin]) => new Campaign(deps, duty, begin));
  return { stop: async () => void (await Promise.all(campaigns.map((each) => each.stop()))) };
}
