import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { WriteBehind } from "../../base/write-behind.ts";
import type { UsageLedger } from "./usage.ts";

export interface UnsavedUnitsDeps {
  readonly ledger: Pick<UsageLedger, "add">;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "error">;
}

interface OwnerUnits {
  readonly owner: OwnerKey;
  readonly days: { readonly day: number; units: number }[];
}

/** Below the promised 250 ms, so that the write itself has time. */
const FLUSH_AFTER_MS = 150;

/** After a failure, such as a full disk, which is logged every time. */
const RETRY_AFTER_MS = 2_000;

/** Units that are counted and not yet in the ledger, written together within 250 ms. */
export class UnsavedUnits {
  readonly #waiting: WriteBehind<OwnerUnits>;

  /** `isBarred`: an owner whose units must not be written just now, because its ledger is being read. */
  constructor(
    { ledger, clock, log }: UnsavedUnitsDeps,
    isBarred: (owner: OwnerKey) => boolean = () => false,
  ) {
    this.#waiting = new WriteBehind<OwnerUnits>({
      afterMs: FLUSH_AFTER_MS,
      retryAfterMs: RETRY_AFTER_MS,
      mayWrite: (owner) => !isBarred(owner),
      batch: Infinity,
      max: Infinity, // units are never lost
      clock,
      merge: together,
      save: (all) => ledger.add(all.flatMap(deltasOf).filter(({ units }) => units !== 0)),
      failed: (fault) => log.error("quota.flush_failed", fault),
    });
  }

  add(owner: OwnerKey, units: number, day: number): void {
    this.#waiting.note(owner, { owner, days: [{ day, units }] });
  }

  /** Units of `owner` from `firstDay` to `lastDay` that wait here or are being written. */
  waiting(owner: OwnerKey, firstDay: number, lastDay: number): number {
    let sum = 0;
    for (const { days } of this.#waiting.under(owner)) {
      for (const { day, units } of days) if (day >= firstDay && day <= lastDay) sum += units;
    }
    return sum;
  }

  /** Resolves when nothing is being written; new units may wait by then. */
  settled(): Promise<void> {
    return this.#waiting.settled();
  }

  /** Resolves once what was added for the owner is written; rejects when the ledger does. */
  async written(owner: OwnerKey): Promise<void> {
    await this.settled();
    if (this.#waiting.under(owner).length > 0) await this.flush();
    else await this.settled(); // somebody else may have begun to write them meanwhile
  }

  /** Writes waiting units, except of barred owners; rejects if the ledger does, and keeps all of them waiting. */
  flush(): Promise<void> {
    return this.#waiting.flush();
  }
}

function together(older: OwnerUnits, { days }: OwnerUnits): OwnerUnits {
  for (const { day, units } of days) {
    const same = older.days.find((one) => one.day === day);
    if (same === undefined) older.days.push({ day, units });
    else same.units += units;
  }
  return older;
}

const deltasOf = ({ owner, days }: OwnerUnits) =>
  days.map(({ day, units }) => ({ owner, day, units }));
