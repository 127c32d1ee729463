import { dayOf } from "../../core/calendar.ts";
import type { Clock } from "../../base/clock.ts";
import type { HourCounts } from "../hour-counts.ts";
import type { Keys } from "../keys.ts";
import type { Log } from "../../base/log.ts";
import { ownerKey } from "../../base/owner.ts";
import { LATENCY_EDGES_MS, type UsageLedger } from "./usage.ts";
import type { Caller } from "./caller.ts";
import { WriteBehind } from "../../base/write-behind.ts";

interface RequestOutcome {
  readonly isRefused: boolean;
  readonly latencyMs: number;
}

interface UsageRecorderDeps {
  readonly usage: Pick<UsageLedger, "add">;
  readonly keys: Pick<Keys, "touch">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
  readonly hours?: Pick<HourCounts, "note">;
}

interface Tally {
  readonly owner: string;
  readonly day: number;
  requests: number;
  refusals: number;
  readonly latency: number[];
}

const FLUSH_AFTER_MS = 1_000;

const BATCH = 500;

const WAITING_MAX = 100_000;

const TOUCH_AFTER_MS = 60_000;

/** Counts requests for the accounts' charts. A kill may lose a second of them. */
export class UsageRecorder {
  readonly #deps: UsageRecorderDeps;
  readonly #tallies: WriteBehind<Tally>;
  #usedKeys = new Set<string>();
  readonly #touchedAtMs = new Map<string, number>();

  constructor(deps: UsageRecorderDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    this.#tallies = new WriteBehind({
      afterMs: FLUSH_AFTER_MS,
      batch: BATCH,
      max: WAITING_MAX,
      merge: together,
      clock,
      save: (tallies) => this.#save(tallies),
      failed: (fault, lost) => log.error("usage.flush_failed", fault, { lost }),
    });
  }

  /** Anonymous requests leave no trace here. */
  record({ owner, keyId }: Caller, { isRefused, latencyMs }: RequestOutcome): void {
    if (owner.kind !== "account") return;
    const nowMs = this.#deps.clock.nowMs();
    const day = dayOf(nowMs);
    if (keyId !== undefined) this.#use(keyId, nowMs);
    this.#deps.hours?.note(owner.accountId, "requests");
    if (isRefused) this.#deps.hours?.note(owner.accountId, "refusals");
    const key = ownerKey(owner);
    const waiting = this.#tallies.waiting(`${key} ${String(day)}`);
    const tally = waiting ?? { owner: key, day, requests: 0, refusals: 0, latency: NO_LATENCY() };
    const edge = LATENCY_EDGES_MS.findIndex((edgeMs) => latencyMs <= edgeMs);
    const bucket = edge < 0 ? LATENCY_EDGES_MS.length : edge;
    tally.requests += 1;
    tally.refusals += isRefused ? 1 : 0;
    tally.latency[bucket] = (tally.latency[bucket] ?? 0) + 1;
    if (waiting === undefined) this.#tallies.note(`${key} ${String(day)}`, tally);
  }

  /** Writes what waits; rejects when the store does, and then it waits on. */
  flush(): Promise<void> {
    return this.#tallies.flush();
  }

  async #save(tallies: readonly Tally[]): Promise<void> {
    await this.#deps.usage.add(tallies);
    const keyIds = [...this.#usedKeys];
    this.#usedKeys = new Set();
    // A last use that is not noted is noted with a later request; the tallies are written and must not come again.
    await this.#deps.keys.touch(keyIds, this.#deps.clock.nowMs()).catch((fault: unknown) => {
      this.#deps.log.error("usage.touch_failed", fault);
    });
  }

  #use(keyId: string, nowMs: number): void {
    const touchedAtMs = this.#touchedAtMs.get(keyId);
    if (touchedAtMs !== undefined && Math.abs(nowMs - touchedAtMs) < TOUCH_AFTER_MS) return;
    if (this.#touchedAtMs.size >= 100_000) this.#touchedAtMs.clear();
    this.#touchedAtMs.set(keyId, nowMs);
    this.#usedKeys.add(keyId);
  }
}

const NO_LATENCY = (): number[] => Array<number>(LATENCY_EDGES_MS.length + 1).fill(0);

function together(older: Tally, newer: Tally): Tally {
  older.requests += newer.requests;
  older.refusals += newer.refusals;
  for (const [bucket, count] of newer.latency.entries()) {
    older.latency[bucket] = (older.latency[bucket] ?? 0) + count;
  }
  return older;
}
