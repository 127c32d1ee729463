import { SIGNALS } from "../evidence/signals.ts";
import { type FullResult, isInconclusive } from "../validate/result.ts";
import { type EntryNote, entryNote, type ListKind } from "./result-cells.ts";
import { type EntryClass, entryClassOf } from "./batch-chunk.ts";

/** What a row of a list comes to. Each row has exactly one, so that the counts add up to the rows. */
export const ROW_CLASSES = [
  "good",
  /** A repair was applied; the new entry is not checked yet. */
  "fixed",
  "misspelt",
  "disposable",
  "no_mail",
  "unsure",
  "format",
  "unchecked",
  /** Each of its entries stands in a row before. */
  "duplicate",
  "blank",
  "unread",
] as const;
export type RowClass = (typeof ROW_CLASSES)[number];

/** Which of several addresses in a row have to be good for the row to be good. */
export const KEEP_RULES = ["any", "all"] as const;
export type KeepRule = (typeof KEEP_RULES)[number];

export interface EntryVerdict {
  readonly class: RowClass;
  readonly why: string;
  /** The entry as it was probably meant; "" for none. */
  readonly meant: string;
}

const GOOD: EntryVerdict = { class: "good", why: "", meant: "" };

export const UNCHECKED: EntryVerdict = { class: "unchecked", why: "", meant: "" };

function noteOf(result: FullResult, entry: string, among: ListKind): EntryNote | undefined {
  const isSuspicious = among === "addresses" && !entry.includes("@");
  return result.format && !isSuspicious ? undefined : entryNote(entry, among);
}

/** `among`: what the other entries of the list are. A misspelling comes first, because it can be repaired. */
export function entryVerdict(result: FullResult, entry: string, among: ListKind): EntryVerdict {
  const note = noteOf(result, entry, among);
  if (note !== undefined) {
    return { class: "format", why: note.message, meant: note.did_you_mean ?? "" };
  }
  const { signals, did_you_mean: meant = "" } = result;
  if (signals.includes("typo_domain")) {
    return { class: "misspelt", why: SIGNALS.typo_domain.short, meant };
  }
  const [first] = signals;
  const kind = entryClassOf(result);
  if (kind === "valid" && first === undefined) return GOOD;
  const isMisspelt = kind === "valid" && signals.includes("typo_local_part");
  if (isMisspelt) return { class: "misspelt", why: SIGNALS.typo_local_part.short, meant: "" };
  const name = kind === "invalidDns" && isInconclusive(result) ? "unsure" : CLASS_OF[kind];
  return { class: name, why: first === undefined ? "" : SIGNALS[first].short, meant };
}

const CLASS_OF: Readonly<Record<EntryClass, RowClass>> = {
  valid: "good",
  disposable: "disposable",
  invalidDns: "no_mail",
  invalidFormat: "format",
};

/** A row with several entries in one cell has the class that comes first here. */
const WORST_FIRST: readonly RowClass[] = [
  "format",
  "disposable",
  "no_mail",
  "misspelt",
  "unsure",
  "unchecked",
  "fixed",
  "good",
];

export function worstOf(verdicts: readonly EntryVerdict[]): EntryVerdict {
  const [first = UNCHECKED, ...others] = verdicts;
  const rank = (verdict: EntryVerdict): number => WORST_FIRST.indexOf(verdict.class);
  return others.reduce((worst, each) => (rank(each) < rank(worst) ? each : worst), first);
}
