/** That an account's own traffic had a mailbox under one spelling: keyed hashes, which reveal neither. */
export interface SpellingSighting {
  readonly accountId: string;
  /** Keyed hash of the canonical address, another one for each account. */
  readonly mailbox: string;
  /** Keyed hash of the address as it was spelled, another one for each account. */
  readonly spelling: string;
  /** The last day it was seen, in days since the Unix epoch, UTC. */
  readonly day: number;
}

/** Under which spellings accounts saw mailboxes. Rules are checked by `test/contracts/evidence/own-spellings.ts`. */
export interface OwnSpellings {
  /** What the account saw of these mailboxes from `fromDay` on, in no order. */
  ofMailboxes(
    accountId: string,
    mailboxes: readonly string[],
    fromDay: number,
  ): Promise<readonly SpellingSighting[]>;
  /**
   * All or nothing; a day before the one known is dropped. Accounts that have their traffic not counted (any
   * more) are left out, and new spellings of an account that has `rowsMax`.
   */
  add(sightings: readonly SpellingSighting[], rowsMax: number): Promise<void>;
  /** Everything seen by the account. */
  forget(accountId: string): Promise<void>;
  /** Deletes what was last seen before `fromDay`; returns how many. */
  prune(fromDay: number): Promise<number>;
}
