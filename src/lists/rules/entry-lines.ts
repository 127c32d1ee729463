import { DAY_MS, dayOf, dayOfDate, isoDate } from "../../core/calendar.ts";
import type { EntryFault } from "../../core/address/address.ts";
import {
  LIST_WORDS,
  type ListWord,
  type SaidOf,
  listSubjectText,
  mayBeSaid,
  readListSubject,
} from "../../core/evidence/rule.ts";
import type { AddressHash } from "../../base/address-hash.ts";

/** Entries of one import, and of the lists in all: every process holds them in memory. */
export const ENTRIES_MAX = 500_000;

/** The most refused lines that are named. */
const WRONG_LINES_MAX = 20;

export type ReadSaying =
  | { readonly kind: "said"; readonly said: SaidOf }
  | { readonly kind: "bad_entry"; readonly fault: EntryFault }
  /** Traps cannot be mail hosts, and accounts must be addresses. */
  | { readonly kind: "bad_word" };

/** An entry as a person writes it, with its word. */
export function readSaying(text: string, word: ListWord, hash: AddressHash): ReadSaying {
  const subject = readListSubject(text);
  if (!subject.ok) return { kind: "bad_entry", fault: subject.fault };
  if (!mayBeSaid(word, subject.value)) return { kind: "bad_word" };
  return { kind: "said", said: { subject: listSubjectText(subject.value, hash), word } };
}

export interface WrongLine {
  /** From 1. */
  readonly line: number;
  readonly why: "bad_entry" | "bad_word" | "bad_date" | "no_word";
}

/** What one line says. */
export interface SaidLine extends SaidOf {
  /** From 1. */
  readonly line: number;
  /** The end of the last day that the line names; it may be past. Milliseconds since the Unix epoch. */
  readonly expiresAtMs?: number;
}

export interface ReadLines {
  readonly said: readonly SaidLine[];
  /** The first twenty; then nothing of the text should be used. */
  readonly wrong: readonly WrongLine[];
}

/**
 * One entry a line, a remark behind "#". A line may begin with its own word ("deny a.example"), others take
 * `standard`, and end with the last day it counts ("a.example until 2027-01-31"). Reads `ENTRIES_MAX` entries and one more.
 */
export function readListLines(
  text: string,
  standard: ListWord | undefined,
  hash: AddressHash,
): ReadLines {
  const said: SaidLine[] = [];
  const wrong: WrongLine[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const parts = lineParts(line, standard);
    if (parts.entry === "") continue;
    const read = readParts(parts, hash);
    if (read.kind === "said") said.push({ ...read.said, ...read.until, line: index + 1 });
    else wrong.push({ line: index + 1, why: read.kind });
    if (wrong.length >= WRONG_LINES_MAX || said.length > ENTRIES_MAX) break;
  }
  return { said, wrong };
}

interface LineParts {
  readonly entry: string;
  readonly word: ListWord | undefined;
  /** The date as it stands there. */
  readonly lastDay: string | undefined;
}

function lineParts(line: string, standard: ListWord | undefined): LineParts {
  const text = line.replace(/(?:^|\s)#.*$/, "").trim();
  const { said = text, lastDay } = UNTIL.exec(text)?.groups ?? {};
  const blank = said.search(/\s/);
  const word = blank < 0 ? undefined : LIST_WORDS.find((known) => known === said.slice(0, blank));
  const entry = word === undefined ? said : said.slice(blank);
  return { entry: entry.trim(), word: word ?? standard, lastDay };
}

/** No entry ends so: an address ends with its domain. */
const UNTIL = /^(?<said>.*\S)\s+until\s+(?<lastDay>\S+)$/;

function readParts({ entry, word, lastDay }: LineParts, hash: AddressHash) {
  if (word === undefined) return { kind: "no_word" } as const;
  const day = lastDay === undefined ? undefined : dayOfDate(lastDay);
  if (lastDay !== undefined && day === undefined) return { kind: "bad_date" } as const;
  const until = day === undefined ? {} : { expiresAtMs: endOfDay(day) };
  return { ...readSaying(entry, word, hash), until };
}

/** The instant from which on an entry whose last day this is says nothing. */
export const endOfDay = (day: number): number => (day + 1) * DAY_MS;

/** Lines that `readListLines` reads back, addresses as their hash. Ends with a line feed unless empty. */
export const listLines = (said: readonly Omit<SaidLine, "line">[]): string =>
  said
    .map(({ word, subject, expiresAtMs }) => `${word} ${subject}${untilText(expiresAtMs)}\n`)
    .join("");

const untilText = (expiresAtMs: number | undefined): string =>
  expiresAtMs === undefined ? "" : ` until ${isoDate(dayOf(expiresAtMs - 1))}`;
