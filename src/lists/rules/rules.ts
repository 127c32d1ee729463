import {
  type ListWord,
  type SaidOf,
  feedSubject,
  listSubjectText,
  readListSubject,
  topicOf,
} from "../../core/evidence/rule.ts";
import type { AddressHash } from "../../base/address-hash.ts";
import type { Clock } from "../../base/clock.ts";
import type { Notices } from "../../store/notices.ts";
import type { Rule } from "./entry-json.ts";
import type { FoundEntries, RuleStore } from "./rule.ts";
import {
  ENTRIES_MAX,
  type ReadSaying,
  type WrongLine,
  readListLines,
  readSaying,
} from "./entry-lines.ts";

/** Whether a text is one line that drives no terminal. */
const isOneLine = (text: string): boolean => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text);

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
  /** There would be more than `entriesMax` entries. */
  | { readonly kind: "full" };

export type SaveAnswer =
  /** `off` of a feed that there is not. */
  | { readonly kind: "unknown_feed"; readonly known: readonly string[] }
  | { readonly kind: "saved"; readonly entry: Rule }
  | Exclude<ReadSaying, { kind: "said" }>
  | DetailsRefusal;

export type ImportAnswer =
  | { readonly kind: "imported"; readonly count: number }
  /** Nothing was imported. */
  | { readonly kind: "wrong_lines"; readonly lines: readonly WrongLine[] }
  | DetailsRefusal;

export interface Forgotten {
  /** As it was stored. */
  readonly subject: string;
  /** How many entries it was. */
  readonly count: number;
}

/** The operator's rules; active on every process within 5 s of a change. */
export interface RuleService {
  save(text: string, word: ListWord, details: EntryDetails): Promise<SaveAnswer>;
  /** Takes back everything said of the entry. Undefined for a bad entry. */
  forget(text: string): Promise<Forgotten | undefined>;
  /** Active rules of one kind or of all, whose subject or note contains `text`. An address finds its hash. */
  search(text: string, word: ListWord | undefined, limit: number): Promise<FoundEntries>;
  /** Active rules, by subject. */
  entries(): Promise<readonly Rule[]>;
  /** Lines as `readListLines` takes them, all of them or nothing; those whose last day is past say nothing. */
  importLines(text: string, word: ListWord | undefined, how: EntryDetails): Promise<ImportAnswer>;
}

export interface RuleServiceDeps {
  /** Called after a change; absent: other processes notice within 5 s. */
  readonly notices?: Pick<Notices, "tell">;
  readonly entries: RuleStore;
  /** Ids of the feeds that can be switched off. */
  readonly feeds?: readonly string[];
  readonly hash: AddressHash;
  readonly clock: Pick<Clock, "nowMs">;
  /** Rules in all; `ENTRIES_MAX` unless given. */
  readonly entriesMax?: number;
}

export function createRuleService(deps: RuleServiceDeps): RuleService {
  const { entries, hash, clock, notices, feeds = [], entriesMax = ENTRIES_MAX } = deps;
  const refusalOf = async (details: EntryDetails, said: readonly SaidOf[]) => {
    const refusal = badDetails(details, clock.nowMs());
    if (refusal !== undefined) return refusal;
    // What is there already is replaced and takes no more room.
    const after = new Set([...(await entries.all()), ...said].map(placeOf));
    return after.size > entriesMax ? ({ kind: "full" } as const) : undefined;
  };
  return {
    async save(text, word, details) {
      const read = readSaying(text, word, hash);
      if (read.kind !== "said") return read;
      const unknown = unknownFeed(read.said, feeds);
      if (unknown !== undefined) return unknown;
      const refusal = await refusalOf(details, [read.said]);
      if (refusal !== undefined) return refusal;
      const entry = entryOf(read.said, details, clock.nowMs());
      await entries.save([entry]);
      notices?.tell("lists");
      return { kind: "saved", entry };
    },
    async forget(text) {
      const subject = readListSubject(text);
      if (!subject.ok) return undefined;
      const stored = listSubjectText(subject.value, hash);
      const count = await entries.forget(stored);
      if (count > 0) notices?.tell("lists");
      return { subject: stored, count };
    },
    search(text, word, limit) {
      const subject = text.includes("@") ? readListSubject(text) : undefined;
      const sought = subject?.ok === true ? listSubjectText(subject.value, hash) : text.trim();
      const query = { text: sought, nowMs: clock.nowMs(), limit };
      return entries.search(word === undefined ? query : { ...query, word });
    },
    entries: () => inForce(entries, clock.nowMs()),
    async importLines(text, word, details) {
      const read = readListLines(text, word, hash);
      if (read.wrong.length > 0) return { kind: "wrong_lines", lines: read.wrong };
      const nowMs = clock.nowMs();
      const said = read.said.filter((line) => isInForce(line, nowMs));
      const refusal = await refusalOf(details, said);
      if (refusal !== undefined) return refusal;
      await entries.save(said.map((line) => entryOf(line, details, nowMs)));
      notices?.tell("lists");
      return { kind: "imported", count: said.length };
    },
  };
}

function unknownFeed({ subject, word }: SaidOf, known: readonly string[]) {
  const isKnown = word !== "off" || known.some((id) => subject === feedSubject(id));
  return isKnown ? undefined : ({ kind: "unknown_feed", known } as const);
}

const placeOf = ({ subject, word }: SaidOf): string => `${topicOf(word)} ${subject}`;

/** A line's own date counts before the one that is for all. */
const entryOf = (
  { subject, word, expiresAtMs }: SaidOf & Pick<Rule, "expiresAtMs">,
  details: EntryDetails,
  nowMs: number,
): Rule => ({
  subject,
  word,
  ...details,
  ...(expiresAtMs !== undefined && { expiresAtMs }),
  createdAtMs: nowMs,
});

export const isInForce = ({ expiresAtMs }: Pick<Rule, "expiresAtMs">, nowMs: number): boolean =>
  expiresAtMs === undefined || expiresAtMs > nowMs;

const inForce = async (entries: RuleStore, nowMs: number): Promise<readonly Rule[]> =>
  (await entries.all()).filter((entry) => isInForce(entry, nowMs));

function badDetails(
  { note, expiresAtMs }: EntryDetails,
  nowMs: number,
): DetailsRefusal | undefined {
  if (note.length > NOTE_MAX || !isOneLine(note)) return { kind: "bad_note" };
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? { kind: "bad_expiry" } : undefined;
}
