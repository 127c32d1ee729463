import type { EntryFault } from "../core/entry.ts";
import {
  LIST_WORDS,
  listSubjectText,
  type ListWord,
  mayBeSaid,
  readListSubject,
} from "../core/operator-entry.ts";
import type { SaidOf } from "../core/operator-lists.ts";
import type { AddressHash } from "../ports/address-hash.ts";

/** Entries of one import, and of the lists in all: every process holds them in memory. */
export const ENTRIES_MAX = 500_000;

/** Of lines that are refused so many are named. */
const WRONG_LINES_MAX = 20;

export type ReadSaying =
  | { readonly kind: "said"; readonly said: SaidOf }
  | { readonly kind: "bad_entry"; readonly fault: EntryFault }
  /** Traps are no mail hosts, and accounts are addresses. */
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
  readonly why: "bad_entry" | "bad_word" | "no_word";
}

export interface ReadLines {
  readonly said: readonly SaidOf[];
  /** The first twenty; then nothing of the text should be used. */
  readonly wrong: readonly WrongLine[];
}

/**
 * One entry a line, a remark behind "#". A line may begin with its own word ("deny a.example"), others take
 * `standard`. Reads `ENTRIES_MAX` entries and one more.
 */
export function readListLines(
  text: string,
  standard: ListWord | undefined,
  hash: AddressHash,
): ReadLines {
  const said: SaidOf[] = [];
  const wrong: WrongLine[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const { entry, word } = lineParts(line, standard);
    if (entry === "") continue;
    const read = word === undefined ? NO_WORD : readSaying(entry, word, hash);
    if (read.kind === "said") said.push(read.said);
    else wrong.push({ line: index + 1, why: read.kind });
    if (wrong.length >= WRONG_LINES_MAX || said.length > ENTRIES_MAX) break;
  }
  return { said, wrong };
}

const NO_WORD = { kind: "no_word" } as const;

function lineParts(
  line: string,
  standard: ListWord | undefined,
): { readonly entry: string; readonly word: ListWord | undefined } {
  const text = line.replace(/(?:^|\s)#.*$/, "").trim();
  const blank = text.search(/\s/);
  const word = blank < 0 ? undefined : LIST_WORDS.find((known) => known === text.slice(0, blank));
  return word === undefined
    ? { entry: text, word: standard }
    : { entry: text.slice(blank).trim(), word };
}

/** Lines that `readListLines` reads back, addresses as their hash. Ends with a line feed unless empty. */
export const listLines = (said: readonly SaidOf[]): string =>
  said.map(({ word, subject }) => `${word} ${subject}\n`).join("");
