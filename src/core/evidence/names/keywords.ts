import type { Domain } from "../../name/domain.ts";
import { type Evidence, evidence } from "../signals.ts";
import { wordsByName } from "../../tables/data.ts";
import * as TEXTS from "../../tables/texts.ts";

interface WordHit {
  readonly word: string;
  readonly end: number;
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789-.";
const WIDTH = ALPHABET.length;

const SYMBOL_OF_CODE = Uint8Array.from({ length: 128 }, (_, code) => {
  const at = ALPHABET.indexOf(String.fromCharCode(code));
  return at < 0 ? WIDTH : at;
});

const symbolAt = (text: string, at: number): number => SYMBOL_OF_CODE[text.charCodeAt(at)] ?? WIDTH;

/** Finds all words before `end`, by where they begin. Every word is of the alphabet above, which a test holds tables to. */
export function wordFinder(
  words: readonly string[],
): (text: string, end: number) => readonly WordHit[] {
  // A trie. `next[state * WIDTH + symbol]` is the state after a symbol; 0 is the root, and no way on.
  const letters = words.reduce((sum, word) => sum + word.length, 1);
  const next = new Uint16Array(letters * WIDTH);
  const wordAt: (string | undefined)[] = [undefined];
  for (const word of words) {
    let state = 0;
    for (let at = 0; at < word.length; at += 1) {
      const edge = state * WIDTH + symbolAt(word, at);
      if (next[edge] === 0) next[edge] = wordAt.push(undefined) - 1;
      state = next[edge] ?? 0;
    }
    wordAt[state] = word;
  }
  return (text, end) => {
    const hits: WordHit[] = [];
    for (let start = 0; start < end; start += 1) {
      let state = 0;
      for (let at = start; at < end; at += 1) {
        const symbol = symbolAt(text, at);
        state = symbol === WIDTH ? 0 : (next[state * WIDTH + symbol] ?? 0);
        if (state === 0) break;
        const word = wordAt[state];
        if (word !== undefined) hits.push({ word, end: at + 1 });
      }
    }
    return hits;
  };
}

const table = new Map(wordsByName(TEXTS.keywords));
const wordsOf = (use: string): readonly string[] => table.get(use) ?? [];
const MAIL_WORDS = wordsOf("mail");

/** German for "throw away": strong in front of a mail word only, because waste firms and cameras are called so too. */
const WEGWERF = ["wegwerf", "wegwerf-"].flatMap((first) =>
  MAIL_WORDS.map((second) => first + second),
);

const PAIRS = wordsOf("throw-away").flatMap((first) =>
  MAIL_WORDS.flatMap((second) => [first + second, `${first}-${second}`]),
);

/** No word twice, though "dispos" + "email" is "dispose" + "mail". */
export const STRONG_WORDS: readonly string[] = [
  ...new Set([...wordsOf("service"), ...PAIRS, ...WEGWERF]),
];
export const WEAK_WORDS = wordsOf("weak");

interface AccidentRow {
  readonly words: readonly string[];
  readonly notAfter: readonly string[];
  readonly notBefore: readonly string[];
}

const pairsOf = (...firsts: readonly string[]): readonly string[] =>
  PAIRS.filter((pair) => firsts.some((first) => pair.startsWith(first)));

/** These rows excuse one of 766 names on the bundled lists that hold a strong word, "btc0010mine.tk" (2026-11). */
const ACCIDENTS: readonly AccidentRow[] = [
  { words: ["mailtemp"], notAfter: [], notBefore: ["late"] },
  // 110 minutes, minds, miners, mines, mining, ministers, minor things.
  {
    words: ["10min"],
    notAfter: Array.from("0123456789"),
    notBefore: ["d", "er", "es", "ing", "is", "or"],
  },
  { words: pairsOf("temp"), notAfter: ["con"], notBefore: [] },
  { words: pairsOf("minute"), notAfter: ["last", "last-"], notBefore: ["er", "ing"] },
  { words: pairsOf("junk", "spam"), notAfter: ["stop", "stop-"], notBefore: [] },
];

/** Words of all kinds are sought in one walk. `alone` is as strong, but only where it stands by itself, like `weak`. */
const KINDS: ReadonlyMap<string, "strong" | "alone" | "weak"> = new Map([
  ...WEAK_WORDS.map((word) => [word, "weak"] as const),
  ...wordsOf("alone").map((word) => [word, "alone"] as const),
  ...STRONG_WORDS.map((word) => [word, "strong"] as const),
]);
const findWords = wordFinder([...KINDS.keys()]);

const HONEST: ReadonlySet<string> = new Set(wordsOf("honest"));

export const isHonest = ({ name, registrableDomain }: Domain): boolean =>
  HONEST.has(registrableDomain ?? name);

const ACCIDENTS_OF = new Map(ACCIDENTS.flatMap((row) => row.words.map((word) => [word, row])));

function isMeant(name: string, { word, end }: WordHit): boolean {
  const row = ACCIDENTS_OF.get(word);
  if (row === undefined) return true;
  const start = end - word.length;
  return !(
    row.notAfter.some((before) => name.endsWith(before, start)) ||
    row.notBefore.some((after) => name.startsWith(after, end))
  );
}

interface FoundWords {
  strong?: WordHit;
  alone?: WordHit;
  weak?: WordHit;
}

/** The word of each kind that ends first, and of several the longest. */
function wordsIn(name: string, end: number): FoundWords {
  const found: FoundWords = {};
  for (const hit of findWords(name, end)) {
    const kind = KINDS.get(hit.word) ?? "weak";
    const isFirst = hit.end < (found[kind]?.end ?? Infinity);
    const counts = kind === "strong" ? isMeant : standsAlone;
    if (isFirst && counts(name, hit)) found[kind] = hit;
  }
  return found;
}

const isLetterAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at); // NaN outside, which is no letter
  return code >= 97 && code <= 122;
};

function standsAlone(name: string, { word, end }: WordHit): boolean {
  return !isLetterAt(name, end) && !isLetterAt(name, end - word.length - 1);
}

/** Left of the public suffix: a strong word anywhere in a label, else a weak one that stands by itself. */
export function keywordEvidence(domain: Domain): Evidence | undefined {
  const { name, publicSuffix } = domain;
  const end = name.length - publicSuffix.length;
  const { strong, alone, weak } = wordsIn(name, end);
  const found = strong ?? alone ?? weak;
  if (found === undefined || isHonest(domain)) return undefined;
  return evidence(found === weak ? "keyword_weak" : "keyword_match", { subject: found.word });
}

export function hasStrongWord(name: string): boolean {
  const { strong, alone } = wordsIn(name, name.length);
  return (strong ?? alone) !== undefined;
}
