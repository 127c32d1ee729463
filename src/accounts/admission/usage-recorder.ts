import { dayOf } from "../../core/calendar.ts";
import type { Clock } from "../../base/clock.ts";
import type { Keys } from "../key-store.ts";
import type { Log } from "../../base/log.ts";
import { ownerKey } from "../../base/owner.ts";
import { addUsage, emptyDay, type UsageLedger } from "./usage.ts";
import type { Caller } from "./caller.ts";
import type { UsageDayRow } from "../../store/schema.ts";
import { WriteBehind } from "../../base/write-behind.ts";

interface UsageRecorderDeps {
  readonly usage: Pick<UsageLedger, "add">;
  readonly keys: Pick<Keys, "touch">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
}

/** Counts requests for the accounts' charts. A kill may lose a second of them. */
export class UsageRecorder {
  readonly #deps: UsageRecorderDeps;
  readonly #days: WriteBehind<UsageDayRow>;
  #usedKeys = new Set<string>();
  readonly #touchedAtMs = new Map<string, number>();

  constructor(deps: UsageRecorderDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    this.#days = new WriteBehind({
      afterMs: 1_000,
      batch: 500,
      max: 100_000,
      merge: addUsage,
      clock,
      save: (days) => this.#save(days),
      failed: (fault, lost) => log.error("usage.flush_failed", fault, { lost }),
    });
  }

  record({ owner, keyId }: Caller, { refusal }: { readonly refusal: string | undefined }): void {
    if (owner.kind !== "account") return;
    const nowMs = this.#deps.clock.nowMs();
    const day = dayOf(nowMs);
    if (keyId !== undefined) this.#use(keyId, nowMs);
    const key = ownerKey(owner);
    const waiting = this.#days.waiting(`${key} ${String(day)}`);
    const row = waiting ?? emptyDay(key, day);
    row.requests += 1;
    if (refusal !== undefined) row.refusals += 1;
    if (waiting === undefined) this.#days.note(`${key} ${String(day)}`, row);
  }

  flush(): Promise<void> {
    return this.#days.flush();
  }

  async #save(days: readonly UsageDayRow[]): Promise<void> {
    await this.#deps.usage.add(days);
    const keyIds = [...this.#usedKeys];
    this.#usedKeys = new Set();
    // A last use that is not noted is noted with a later request; the days are written and must not come again.
    await this.#deps.keys.touch(keyIds, this.#deps.clock.nowMs()).catch((fault: unknown) => {
      this.#deps.log.error("usage.touch_failed", fault);
    });
  }

  #use(keyId: string, nowMs: number): void {
    const touchedAtMs = this.#touchedAtMs.get(keyId);
    if (touchedAtMs !== undefined && Math.abs(nowMs - touchedAtMs) < 60_000) return;
    if (this.#touchedAtMs.size >= 100_000) this.#touchedAtMs.clear();
    this.#touchedAtMs.set(keyId, nowMs);
    this.#usedKeys.add(keyId);
  }
}
