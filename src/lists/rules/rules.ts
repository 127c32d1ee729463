import { badField, notNow, Refusal } from "../../base/refusals.ts";
import { FAULT_WORDS } from "../../core/name/domain.ts";
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

/** Throws the `Refusal` of what no rule can say. */
function readSaying(text: string, word: ListWord, hash: AddressHash): SaidOf {
  const subject = readListSubject(text);
  if (!subject.ok) {
    throw badField(`Not a domain, *.suffix, mx:host or address: ${FAULT_WORDS[subject.fault]}.`);
  }
  if (!mayBeSaid(word, subject.value)) {
    throw badField(
      "A trap is an address or a domain, an account is an address, and only a feed is off.",
    );
  }
  return { subject: listSubjectText(subject.value, hash), word };
}

interface SaidLine extends SaidOf {
  /** The end of the last day that the line names; it may be past. Milliseconds since the Unix epoch. */
  readonly expiresAtMs?: number;
}

interface ReadLines {
  readonly said: ReadonlyMap<number, SaidLine>;
  /** A sentence for each of the first twenty; then nothing of the text should be used. */
  readonly wrong: readonly string[];
}

/** One entry a line, a remark behind "#": "deny a.example until 2027-01-31". Reads `ENTRIES_MAX` entries and one more. */
export function readListLines(
  text: string,
  standard: ListWord | undefined,
  hash: AddressHash,
): ReadLines {
  const said = new Map<number, SaidLine>();
  const wrong: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const remark = line.search(/(?:^|\s)#/);
    const words = (remark < 0 ? line : line.slice(0, remark)).trim();
    if (words === "") continue;
    try {
      said.set(index + 1, readLine(words, standard, hash));
    } catch (fault) {
      if (!(fault instanceof Refusal)) throw fault;
      wrong.push(`Line ${String(index + 1)}: ${fault.message}`);
    }
    if (wrong.length >= WRONG_LINES_MAX || said.size > ENTRIES_MAX) break;
  }
  return { said, wrong };
}

function readLine(text: string, standard: ListWord | undefined, hash: AddressHash): SaidLine {
  const { words = text, lastDay } = UNTIL.exec(text)?.groups ?? {};
  const blank = Math.max(0, words.search(/\s/));
  const named = LIST_WORDS.find((known) => known === words.slice(0, blank));
  const word = named ?? standard;
  if (word === undefined) throw badField("It does not say allow or deny.");
  const day = lastDay === undefined ? undefined : dayOfDate(lastDay);
  if (lastDay !== undefined && day === undefined) {
    throw badField("The last day is a date such as 2027-01-31.");
  }
  const said = readSaying(named === undefined ? words : words.slice(blank), word, hash);
  return { ...said, ...(day !== undefined && { expiresAtMs: endOfDay(day) }) };
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

export const NOTE_MAX = 500;

export interface EntryDetails {
  readonly note: string;
  readonly author: string;
  readonly expiresAtMs?: number;
}

interface ImportedLines {
  readonly count: number;
  readonly atMs: number;
  /** What stood in the place of others. */
  readonly replaced: readonly Rule[];
}

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

  /** Throws a `Refusal`, as `importLines` does. */
  async save(text: string, word: ListWord, details: EntryDetails): Promise<Rule> {
    const { hash, feeds = [] } = this.#deps;
    const said = readSaying(text, word, hash);
    const isKnown = word !== "off" || feeds.some((id) => said.subject === feedSubject(id));
    if (!isKnown) throw badField(`No such feed. The feeds are ${feeds.join(", ")}.`);
    const entry = { ...details, ...said, createdAtMs: this.#deps.clock.nowMs() };
    await this.#saveAll([entry], details);
    const until = untilText(entry.expiresAtMs);
    const detail = `${word} ${entry.subject}${until === "" ? "" : `,${until}`}`;
    await this.#note("lists.entry_saved", detail);
    return entry;
  }

  async forget(
    text: string,
  ): Promise<{ readonly subject: string; readonly count: number } | undefined> {
    const { entries, hash, notices } = this.#deps;
    const read = readListSubject(text);
    if (!read.ok) return undefined;
    const subject = listSubjectText(read.value, hash);
    const count = await entries.forget({ subject });
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
  ): Promise<ImportedLines> {
    const { hash, clock } = this.#deps;
    const { said, wrong } = readListLines(text, word, hash);
    if (wrong.length > 0) throw badField(wrong.join("\n"));
    const nowMs = clock.nowMs();
    const rules = [...said.values()]
      .filter((line) => isInForce(line, nowMs))
      // A line's own date counts before the one that is for all.
      .map((line) => ({ ...details, ...line, createdAtMs: nowMs }));
    const places = new Set(rules.map(placeOf));
    const replaced = (await this.entries()).filter((rule) => places.has(placeOf(rule)));
    await this.#saveAll(rules, details);
    const count = rules.length;
    await this.#note("lists.imported", `${String(count)} ${count === 1 ? "entry" : "entries"}`);
    return { count, atMs: nowMs, replaced };
  }

  /** Forgets what an import said, but what was said anew since. */
  async takeBack(author: string, atMs: number): Promise<number> {
    const { entries, notices } = this.#deps;
    const count = await entries.forget({ author, created_at_ms: atMs });
    notices?.tell("lists");
    await this.#note("lists.entry_forgotten", `${String(count)} of an import`);
    return count;
  }

  async #note(action: AuditAction, detail: string): Promise<void> {
    await this.#deps.note?.({ action, accountId: SERVICE, detail });
  }

  async #saveAll(rules: readonly Rule[], { note, expiresAtMs }: EntryDetails): Promise<void> {
    const { entries, clock, notices, entriesMax = ENTRIES_MAX } = this.#deps;
    if (note.length > NOTE_MAX || /[\p{Cc}\p{Cf}\p{Cs}]/u.test(note)) {
      throw badField(`A note is one line of at most ${String(NOTE_MAX)} characters.`);
    }
    if (!isInForce({ expiresAtMs }, clock.nowMs())) {
      throw badField("The last day lies in the past.");
    }
    // What is there already is replaced and takes no more room.
    const after = new Set([...(await entries.all()), ...rules].map(placeOf));
    if (after.size > entriesMax) {
      throw notNow(`There are at most ${String(ENTRIES_MAX)} rules: forget some first.`);
    }
    await entries.save(rules);
    notices?.tell("lists");
  }
}

const placeOf = ({ subject, word }: SaidOf): string => `${topicOf(word)} ${subject}`;

export const isInForce = (
  { expiresAtMs = Infinity }: { readonly expiresAtMs?: number | undefined },
  nowMs: number,
): boolean => expiresAtMs > nowMs;
