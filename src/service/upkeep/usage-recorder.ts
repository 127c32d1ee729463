import { dayOf } from "../../core/calendar.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { Keys } from "../../ports/admission/keys.ts";
import type { Log } from "../../ports/process/log.ts";
import { ownerKey } from "../../ports/admission/owner.ts";
import { LATENCY_EDGES_MS, type UsageLedger } from "../../ports/admission/usage.ts";
import type { Caller } from "../admission/caller.ts";

/** How one request of an account ended. */
export interface RequestOutcome {
  /** 401, 403 or 429, or any other refusal. */
  readonly isRefused: boolean;
  readonly latencyMs: number;
}

/** Counts requests for the accounts' charts. A kill may lose a second of them. */
export interface UsageRecorder {
  /** Anonymous requests leave no trace here. */
  record(caller: Caller, outcome: RequestOutcome): void;
  /** Writes what waits; rejects when the store does, and then it waits on. */
  flush(): Promise<void>;
}

export interface UsageRecorderDeps {
  readonly usage: Pick<UsageLedger, "add">;
  readonly keys: Pick<Keys, "touch">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
}

interface Tally {
  readonly owner: string;
  readonly day: number;
  requests: number;
  refusals: number;
  readonly latency: number[];
}

const FLUSH_AFTER_MS = 1_000;

/** A key's last use is noted this often at the most. */
const TOUCH_AFTER_MS = 60_000;

export function createUsageRecorder(deps: UsageRecorderDeps): UsageRecorder {
  return new Recorder(deps);
}

class Recorder implements UsageRecorder {
  readonly #deps: UsageRecorderDeps;
  #tallies = new Map<string, Tally>();
  /** Of another day than the owner's last request, as around midnight. */
  #finished: Tally[] = [];
  #usedKeys = new Set<string>();
  readonly #touchedAtMs = new Map<string, number>();
  #isArmed = false;

  constructor(deps: UsageRecorderDeps) {
    this.#deps = deps;
  }

  record({ owner, keyId }: Caller, { isRefused, latencyMs }: RequestOutcome): void {
    if (owner.kind !== "account") return;
    const nowMs = this.#deps.clock.nowMs();
    const tally = this.#tally(ownerKey(owner), dayOf(nowMs));
    tally.requests += 1;
    if (isRefused) tally.refusals += 1;
    const edge = LATENCY_EDGES_MS.findIndex((edgeMs) => latencyMs <= edgeMs);
    const bucket = edge < 0 ? LATENCY_EDGES_MS.length : edge;
    tally.latency[bucket] = (tally.latency[bucket] ?? 0) + 1;
    if (keyId !== undefined) this.#use(keyId, nowMs);
    this.#arm();
  }

  async flush(): Promise<void> {
    const tallies = [...this.#finished, ...this.#tallies.values()];
    const keyIds = [...this.#usedKeys];
    this.#finished = [];
    this.#tallies = new Map();
    this.#usedKeys = new Set();
    try {
      await this.#deps.usage.add(tallies);
    } catch (fault) {
      for (const lost of tallies) putBack(this.#tally(lost.owner, lost.day), lost);
      this.#arm();
      throw fault;
    }
    await this.#deps.keys.touch(keyIds, this.#deps.clock.nowMs());
  }

  #tally(owner: string, day: number): Tally {
    const known = this.#tallies.get(owner);
    if (known?.day === day) return known;
    const latency = Array<number>(LATENCY_EDGES_MS.length + 1).fill(0);
    const made: Tally = { owner, day, requests: 0, refusals: 0, latency };
    if (known !== undefined) this.#finished.push(known);
    this.#tallies.set(owner, made);
    return made;
  }

  #use(keyId: string, nowMs: number): void {
    const touchedAtMs = this.#touchedAtMs.get(keyId);
    if (touchedAtMs !== undefined && Math.abs(nowMs - touchedAtMs) < TOUCH_AFTER_MS) return;
    if (this.#touchedAtMs.size >= 100_000) this.#touchedAtMs.clear();
    this.#touchedAtMs.set(keyId, nowMs);
    this.#usedKeys.add(keyId);
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#deps.clock.after(FLUSH_AFTER_MS, () => {
      this.#isArmed = false;
      this.flush().catch((fault: unknown) => {
        this.#deps.log.error("usage.flush_failed", fault);
      });
    });
  }
}

/** Counts go together again, so that a store that is long away costs no more than a tally an account and day. */
function putBack(tally: Tally, lost: Tally): void {
  tally.requests += lost.requests;
  tally.refusals += lost.refusals;
  for (const [bucket, count] of lost.latency.entries()) {
    tally.latency[bucket] = (tally.latency[bucket] ?? 0) + count;
  }
}
