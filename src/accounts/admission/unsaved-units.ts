import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { UnitJournal } from "./unit-journal.ts";
import type { UsageDelta, UsageLedger } from "./usage.ts";

interface UnsavedUnitsDeps {
  readonly ledger: Pick<UsageLedger, "add">;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "error">;
}

interface DayUnits {
  readonly day: number;
  units: number;
}

/** Below the promised 250 ms, so that the write itself has time. */
const FLUSH_AFTER_MS = 150;

/** After a failure, such as a full disk, which is logged every time. */
const RETRY_AFTER_MS = 2_000;

/** Units that are counted and not yet in the ledger, written together within 250 ms. */
export class UnsavedUnits implements UnitJournal {
  readonly #deps: UnsavedUnitsDeps;
  readonly #isBarred: (owner: OwnerKey) => boolean;
  #waiting = new Map<OwnerKey, DayUnits[]>();
  #writing: Promise<void> | undefined;
  #isArmed = false;
  #delayMs = FLUSH_AFTER_MS;

  /** `isBarred`: an owner whose units must not be written just now, because its ledger is being read. */
  constructor(deps: UnsavedUnitsDeps, isBarred: (owner: OwnerKey) => boolean = () => false) {
    this.#deps = deps;
    this.#isBarred = isBarred;
  }

  /** `units` may be negative. */
  add(owner: OwnerKey, units: number, day: number): void {
    const days = this.#waiting.get(owner);
    const same = days?.find((one) => one.day === day);
    if (same !== undefined) same.units += units;
    else if (days !== undefined) days.push({ day, units });
    else this.#waiting.set(owner, [{ day, units }]);
    this.#arm();
  }

  /** Units of `owner` from `firstDay` to `lastDay` that wait here; those being written do not wait. */
  waiting(owner: OwnerKey, firstDay: number, lastDay: number): number {
    let sum = 0;
    for (const { day, units } of this.#waiting.get(owner) ?? []) {
      if (day >= firstDay && day <= lastDay) sum += units;
    }
    return sum;
  }

  /** Resolves when nothing is being written; new units may wait by then. */
  async settled(): Promise<void> {
    // The writer has handled the failure.
    await this.#writing?.catch(() => undefined);
  }

  async written(owner: OwnerKey): Promise<void> {
    await this.settled();
    if (this.#waiting.has(owner)) await this.flush();
    else await this.settled(); // somebody else may have begun to write them meanwhile
  }

  /** Writes waiting units, except of barred owners; rejects if the ledger does, and keeps all of them waiting. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.settled();
    const batch = this.#takeOut();
    if (batch.length === 0) return;
    this.#writing = this.#write(batch).finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#deps.clock.after(this.#delayMs, () => {
      this.#isArmed = false;
      this.flush().catch((fault: unknown) => this.#deps.log.error("quota.flush_failed", fault));
    });
  }

  #takeOut(): readonly UsageDelta[] {
    const all = [...this.#waiting];
    const barred = all.filter(([owner]) => this.#isBarred(owner));
    this.#waiting = new Map(barred);
    if (barred.length > 0) this.#arm();
    return all
      .filter(([owner]) => !this.#waiting.has(owner))
      .flatMap(([owner, days]) => days.map(({ day, units }) => ({ owner, day, units })))
      .filter(({ units }) => units !== 0);
  }

  async #write(batch: readonly UsageDelta[]): Promise<void> {
    try {
      await this.#deps.ledger.add(batch);
      this.#delayMs = FLUSH_AFTER_MS;
    } catch (fault) {
      this.#delayMs = RETRY_AFTER_MS;
      for (const { owner, units = 0, day } of batch) this.add(owner, units, day);
      throw fault;
    }
  }
}
