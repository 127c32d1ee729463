import { type EntryFault, FAULT_WORDS } from "../../core/name/domain.ts";
import { DAY_MS, dayOf, dayOfDate, isoDate } from "../../core/calendar.ts";
import {
  feedSubject,
  LIST_WORDS,
  listSubjectText,
  type ListWord,
  mayBeSaid,
  readListSubject,
  type SaidOf,
  topicOf,
} from "../../core/evidence/rule.ts";
import { type AuditAction, type Note, SERVICE } from "../../accounts/audit.ts";
import type { AddressHash } from "../../base/secrets.ts";
import type { Clock } from "../../base/clock.ts";
import type { Notices } from "../../store/notices.ts";
import type { Rule } from "./entry-json.ts";
import type { FoundEntries, RuleStore } from "./rule.ts";

/** Entries of one import, and of the lists in all: every process holds them in memory. */
const ENTRIES_MAX = 500_000;

const WRONG_LINES_MAX = 20;

type ReadSaying =
  | { readonly kind: "said"; readonly said: SaidOf }
  | { readonly kind: "bad_entry"; readonly fault: EntryFault }
  /** Traps cannot be mail hosts, and accounts must be addresses. */
  | { readonly kind: "bad_word" };

function readSaying(text: string, word: ListWord, hash: AddressHash): ReadSaying {
  const subject = readListSubject(text);
  if (!subject.ok) return { kind: "bad_entry", fault: subject.fault };
  if (!mayBeSaid(word, subject.value)) return { kind: "bad_word" };
  return { kind: "said", said: { subject: listSubjectText(subject.value, hash), word } };
}

interface WrongLine {
  readonly line: number;
  readonly why: "bad_entry" | "bad_word" | "bad_date" | "no_word";
}

const WHY_WRONG: Readonly<Record<WrongLine["why"], string>> = {
  bad_entry: "is not a domain, *.suffix, mx:host or address",
  bad_date: "has an invalid date",
  bad_word:
    'has a trap that is a mail host, an account that is not an address, or "off" without a feed',
  no_word: "does not say allow or deny",
};

export const wrongLineWords = ({ line, why }: WrongLine): string =>
  `Line ${String(line)} ${WHY_WRONG[why]}.`;

interface SaidLine extends SaidOf {
  /** The end of the last day that the line names; it may be past. Milliseconds since the Unix epoch. */
  readonly expiresAtMs?: number;
}

interface ReadLines {
  readonly said: ReadonlyMap<number, SaidLine>;
  /** The first twenty; then nothing of the text should be used. */
  readonly wrong: readonly WrongLine[];
}

/** One entry a line, a remark behind "#": "deny a.example until 2027-01-31". Reads `ENTRIES_MAX` entries and one more. */
export function readListLines(
  text: string,
  standard: ListWord | undefined,
  hash: AddressHash,
): ReadLines {
  const said = new Map<number, SaidLine>();
  const wrong: WrongLine[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const remark = line.search(/(?:^|\s)#/);
    const words = (remark < 0 ? line : line.slice(0, remark)).trim();
    if (words === "") continue;
    const read = readLine(words, standard, hash);
    if (typeof read === "string") wrong.push({ line: index + 1, why: read });
    else said.set(index + 1, read);
    if (wrong.length >= WRONG_LINES_MAX || said.size > ENTRIES_MAX) break;
  }
  return { said, wrong };
}

function readLine(
  text: string,
  standard: ListWord | undefined,
  hash: AddressHash,
): SaidLine | WrongLine["why"] {
  const { words = text, lastDay } = UNTIL.exec(text)?.groups ?? {};
  const blank = Math.max(0, words.search(/\s/));
  const named = LIST_WORDS.find((known) => known === words.slice(0, blank));
  const word = named ?? standard;
  if (word === undefined) return "no_word";
  const day = lastDay === undefined ? undefined : dayOfDate(lastDay);
  if (lastDay !== undefined && day === undefined) return "bad_date";
  const read = readSaying(named === undefined ? words : words.slice(blank), word, hash);
  if (read.kind !== "said") return read.kind;
  return { ...read.said, ...(day !== undefined && { expiresAtMs: endOfDay(day) }) };
}

/** No entry ends so: an address ends with its domain. */
const UNTIL = /^(?<words>.*\S)\s+until\s+(?<lastDay>\S+)$/;

/** The instant from which on an entry whose last day this is says nothing. */
export const endOfDay = (day: number): number => (day + 1) * DAY_MS;

/** Lines that `readListLines` reads back, addresses as their hash. Ends with a line feed unless empty. */
export const listLines = (said: readonly SaidLine[]): string =>
  said
    .map(({ word, subject, expiresAtMs }) => `${word} ${subject}${untilText(expiresAtMs)}\n`)
    .join("");

const untilText = (expiresAtMs: number | undefined): string =>
  expiresAtMs === undefined ? "" : ` until ${isoDate(dayOf(expiresAtMs - 1))}`;

const isOneLine = (text: string): boolean => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text);

export const NOTE_MAX = 500;

export interface EntryDetails {
  readonly note: string;
  readonly author: string;
  readonly expiresAtMs?: number;
}

type DetailsRefusal =
  { readonly kind: "bad_note" } | { readonly kind: "bad_expiry" } | { readonly kind: "full" };

export type SaveAnswer =
  | { readonly kind: "unknown_feed"; readonly known: readonly string[] }
  | { readonly kind: "saved"; readonly entry: Rule }
  | Exclude<ReadSaying, { kind: "said" }>
  | DetailsRefusal;

/** Why nothing was saved, for a person. */
export function whyNotSaved(answer: Exclude<SaveAnswer, { kind: "saved" }>): string {
  switch (answer.kind) {
    case "bad_entry":
      return `Not a domain, *.suffix, mx:host or address: ${FAULT_WORDS[answer.fault]}.`;
    case "bad_word":
      return "A trap is an address or a domain, an account is an address, and only a feed is off.";
    case "unknown_feed":
      return `No such feed. The feeds are ${answer.known.join(", ")}.`;
    case "bad_note":
      return `A note is one line of at most ${String(NOTE_MAX)} characters.`;
    case "bad_expiry":
      return "The last day lies in the past.";
    case "full":
      return `There are at most ${String(ENTRIES_MAX)} rules: forget some first.`;
  }
}

export type ImportAnswer =
  | { readonly kind: "imported"; readonly count: number }
  | { readonly kind: "wrong_lines"; readonly lines: readonly WrongLine[] }
  | DetailsRefusal;

interface RuleServiceDeps {
  readonly note?: Note;
  /** Called after a change; absent: other processes notice within 5 s. */
  readonly notices?: Pick<Notices, "tell">;
  readonly entries: RuleStore;
  readonly feeds?: readonly string[];
  readonly hash: AddressHash;
  readonly clock: Pick<Clock, "nowMs">;
  readonly entriesMax?: number;
}

export class RuleService {
  readonly #deps: RuleServiceDeps;

  constructor(deps: RuleServiceDeps) {
    this.#deps = deps;
  }

  by(note: Note): RuleService {
    return new RuleService({ ...this.#deps, note });
  }

  async save(text: string, word: ListWord, details: EntryDetails): Promise<SaveAnswer> {
    const { hash, feeds = [] } = this.#deps;
    const read = readSaying(text, word, hash);
    if (read.kind !== "said") return read;
    const isKnown = word !== "off" || feeds.some((id) => read.said.subject === feedSubject(id));
    if (!isKnown) return { kind: "unknown_feed", known: feeds };
    const entry = this.#ruleOf(read.said, details);
    const refusal = await this.#saveAll([entry], details);
    if (refusal !== undefined) return refusal;
    const until = untilText(entry.expiresAtMs);
    const detail = `${word} ${entry.subject}${until === "" ? "" : `,${until}`}`;
    await this.#note("lists.entry_saved", detail);
    return { kind: "saved", entry };
  }

  async forget(
    text: string,
  ): Promise<{ readonly subject: string; readonly count: number } | undefined> {
    const { entries, hash, notices } = this.#deps;
    const read = readListSubject(text);
    if (!read.ok) return undefined;
    const subject = listSubjectText(read.value, hash);
    const count = await entries.forget(subject);
    if (count > 0) {
      notices?.tell("lists");
      await this.#note("lists.entry_forgotten", subject);
    }
    return { subject, count };
  }

  /** Active rules of one kind or of all, whose subject or note contains `text`. An address finds its hash. */
  search(text: string, word: ListWord | undefined, limit: number): Promise<FoundEntries> {
    const { entries, hash, clock } = this.#deps;
    const subject = text.includes("@") ? readListSubject(text) : undefined;
    const sought = subject?.ok === true ? listSubjectText(subject.value, hash) : text.trim();
    return entries.search({ text: sought, word, nowMs: clock.nowMs(), limit });
  }

  async entries(): Promise<readonly Rule[]> {
    const { entries, clock } = this.#deps;
    const nowMs = clock.nowMs();
    return (await entries.all()).filter((rule) => isInForce(rule, nowMs));
  }

  /** Lines as `readListLines` takes them, all of them or nothing; those whose last day is past say nothing. */
  async importLines(
    text: string,
    word: ListWord | undefined,
    details: EntryDetails,
  ): Promise<ImportAnswer> {
    const { hash, clock } = this.#deps;
    const { said, wrong } = readListLines(text, word, hash);
    if (wrong.length > 0) return { kind: "wrong_lines", lines: wrong };
    const nowMs = clock.nowMs();
    const rules = [...said.values()]
      .filter((line) => isInForce(line, nowMs))
      .map((line) => this.#ruleOf(line, details));
    const refusal = await this.#saveAll(rules, details);
    if (refusal !== undefined) return refusal;
    const count = rules.length;
    await this.#note("lists.imported", `${String(count)} ${count === 1 ? "entry" : "entries"}`);
    return { kind: "imported", count };
  }

  async #note(action: AuditAction, detail: string): Promise<void> {
    await this.#deps.note?.({ action, accountId: SERVICE, detail });
  }

  /** A line's own date counts before the one that is for all. */
  #ruleOf(said: SaidLine, details: EntryDetails): Rule {
    return { ...details, ...said, createdAtMs: this.#deps.clock.nowMs() };
  }

  async #saveAll(
    rules: readonly Rule[],
    { note, expiresAtMs }: EntryDetails,
  ): Promise<DetailsRefusal | undefined> {
    const { entries, clock, notices, entriesMax = ENTRIES_MAX } = this.#deps;
    if (note.length > NOTE_MAX || !isOneLine(note)) return { kind: "bad_note" };
    if (!isInForce({ expiresAtMs }, clock.nowMs())) return { kind: "bad_expiry" };
    // What is there already is replaced and takes no more room.
    const after = new Set([...(await entries.all()), ...rules].map(placeOf));
    if (after.size > entriesMax) return { kind: "full" };
    await entries.save(rules);
    notices?.tell("lists");
    return undefined;
  }
}

const placeOf = ({ subject, word }: SaidOf): string => `${topicOf(word)} ${subject}`;

export const isInForce = (
  { expiresAtMs = Infinity }: { readonly expiresAtMs?: number | undefined },
  nowMs: number,
): boolean => expiresAtMs > nowMs;
