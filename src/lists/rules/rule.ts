import type { ListTopic, ListWord } from "../../core/evidence/rule.ts";

/** One entry of the operator's lists. */
export interface Rule {
  /** As `listSubjectText` writes it; an address is its keyed hash. */
  readonly subject: string;
  readonly word: ListWord;
  /** For the operator alone; may be "". */
  readonly note: string;
  /** Who made it: an account id or the name of a system user. */
  readonly author: string;
  readonly createdAtMs: number;
  /** Milliseconds since the Unix epoch. From this instant on the entry says nothing. */
  readonly expiresAtMs?: number;
}

/** Which entries are looked for. */
export interface EntryQuery {
  /** Part of the subject or of the note, in any case; "" for all. */
  readonly text: string;
  readonly word?: ListWord;
  /** What has expired by then is left out. */
  readonly nowMs: number;
  readonly limit: number;
}

export interface FoundEntries {
  /** By subject, at most as many as were asked for. */
  readonly entries: readonly Rule[];
  /** How many fit. */
  readonly total: number;
}

/** Keeps the operator's lists. Rules are checked by `test/contracts/evidence/rules.ts`. */
export interface RuleStore {
  /** Grows with every change that any process makes. */
  changes(): Promise<number>;
  /** All entries, expired ones too, by subject. */
  all(): Promise<readonly Rule[]>;
  search(query: EntryQuery): Promise<FoundEntries>;
  /** All of them or none; each replaces the entry of the same subject and topic. */
  save(entries: readonly Rule[]): Promise<void>;
  /** Deletes what is said of a subject, on one topic or on all; returns how many entries. */
  forget(subject: string, topic?: ListTopic): Promise<number>;
  /** Deletes what has expired; returns how many. */
  prune(nowMs: number): Promise<number>;
}
