import type { OwnerKey } from "../../base/owner.ts";

/** Units that are counted and are on their way to the usage ledger, where they are within 250 ms. */
export interface UnitJournal {
  /** `units` may be negative. */
  add(owner: OwnerKey, units: number, day: number): void;
  /** Resolves once what was added for the owner is written; rejects when the ledger does. */
  written(owner: OwnerKey): Promise<void>;
  /** Writes all that waits; rejects when the ledger does, and then all of it waits on. */
  flush(): Promise<void>;
}
