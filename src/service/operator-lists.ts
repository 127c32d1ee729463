import { type ListWord, listSubjectText, readListSubject } from "../core/operator-entry.ts";
import type { SaidOf } from "../core/operator-lists.ts";
import type { AddressHash } from "../ports/address-hash.ts";
import type { Clock } from "../ports/clock.ts";
import type { OperatorEntries, OperatorEntry } from "../ports/operator-entries.ts";
import {
  ENTRIES_MAX,
  readListLines,
  readSaying,
  type ReadSaying,
  type WrongLine,
} from "./list-lines.ts";
import { isOneLine } from "./list-text.ts";

/** Characters of a note. */
export const NOTE_MAX = 500;

export interface EntryDetails {
  /** For the operator alone; may be "". */
  readonly note: string;
  /** Who says so. */
  readonly author: string;
  readonly expiresAtMs?: number;
}

export type DetailsRefusal =
  | { readonly kind: "bad_note" }
  /** In the past. */
  | { readonly kind: "bad_expiry" }
  /** There would be more than `ENTRIES_MAX` entries. */
  | { readonly kind: "full" };

export type SaveAnswer =
  | { readonly kind: "saved"; readonly entry: OperatorEntry }
  | Exclude<ReadSaying, { kind: "said" }>
  | DetailsRefusal;

export type ImportAnswer =
  | { readonly kind: "imported"; readonly count: number }
  /** Nothing was imported. */
  | { readonly kind: "wrong_lines"; readonly lines: readonly WrongLine[] }
  | DetailsRefusal;

/** The operator's lists; in force on every process within 5 s of a change. */
export interface OperatorListService {
  save(text: string, word: ListWord, details: EntryDetails): Promise<SaveAnswer>;
  /** Takes back everything said of the entry; how many entries it was. Undefined for a bad entry. */
  forget(text: string): Promise<number | undefined>;
  /** What is in force, by subject. */
  entries(): Promise<readonly OperatorEntry[]>;
  /** Lines as `readListLines` takes them: all of them or nothing. */
  importLines(text: string, word: ListWord | undefined, how: EntryDetails): Promise<ImportAnswer>;
}

export interface OperatorListDeps {
  readonly entries: OperatorEntries;
  readonly hash: AddressHash;
  readonly clock: Pick<Clock, "nowMs">;
}

export function createOperatorListService(deps: OperatorListDeps): OperatorListService {
  const { entries, hash, clock } = deps;
  const refusalOf = async (details: EntryDetails, count: number) => {
    const refusal = badDetails(details, clock.nowMs());
    if (refusal !== undefined) return refusal;
    const held = (await entries.all()).length;
    return held + count > ENTRIES_MAX ? ({ kind: "full" } as const) : undefined;
  };
  return {
    async save(text, word, details) {
      const read = readSaying(text, word, hash);
      if (read.kind !== "said") return read;
      const refusal = await refusalOf(details, 1);
      if (refusal !== undefined) return refusal;
      const entry = entryOf(read.said, details, clock.nowMs());
      await entries.save([entry]);
      return { kind: "saved", entry };
    },
    async forget(text) {
      const subject = readListSubject(text);
      if (!subject.ok) return undefined;
      return await entries.forget(listSubjectText(subject.value, hash));
    },
    async entries() {
      const nowMs = clock.nowMs();
      return (await entries.all()).filter((entry) => isInForce(entry, nowMs));
    },
    async importLines(text, word, details) {
      const { said, wrong } = readListLines(text, word, hash);
      if (wrong.length > 0) return { kind: "wrong_lines", lines: wrong };
      const refusal = await refusalOf(details, said.length);
      if (refusal !== undefined) return refusal;
      await entries.save(said.map((each) => entryOf(each, details, clock.nowMs())));
      return { kind: "imported", count: said.length };
    },
  };
}

const entryOf = (said: SaidOf, details: EntryDetails, nowMs: number): OperatorEntry => ({
  ...said,
  ...details,
  createdAtMs: nowMs,
});

export const isInForce = ({ expiresAtMs }: OperatorEntry, nowMs: number): boolean =>
  expiresAtMs === undefined || expiresAtMs > nowMs;

function badDetails(
  { note, expiresAtMs }: EntryDetails,
  nowMs: number,
): DetailsRefusal | undefined {
  if (note.length > NOTE_MAX || !isOneLine(note)) return { kind: "bad_note" };
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? { kind: "bad_expiry" } : undefined;
}
