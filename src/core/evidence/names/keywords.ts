import type { Domain } from "../../name/domain.ts";
import { type Evidence, evidence } from "../signals.ts";
import { wordsByName } from "../../tables/data.ts";
import * as TEXTS from "../../tables/texts.ts";

interface WordHit {
  readonly word: string;
  readonly end: number;
}

interface WordFinder {
  /** The first hit before `end` that `accept` takes, by where hits end and longest first. Others are in no word. */
  find(text: string, end: number, accept?: (hit: WordHit) => boolean): WordHit | undefined;
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789-.";
const WIDTH = ALPHABET.length;

const SYMBOL_OF_CODE = Uint8Array.from({ length: 128 }, (_, code) => {
  const at = ALPHABET.indexOf(String.fromCharCode(code));
  return at < 0 ? WIDTH : at;
});

const symbolAt = (text: string, at: number): number => SYMBOL_OF_CODE[text.charCodeAt(at)] ?? WIDTH;

/** The states of the automaton of Aho and Corasick (CACM 18:6, 1975); state 0 is the root. */
interface Automaton {
  /** `next[state * WIDTH + symbol]`. */
  readonly next: Uint16Array;
  readonly words: readonly (string | undefined)[];
  /** The state of the longest word that ends in a state, itself included; 0 for none. */
  readonly longest: Uint16Array;
  /** The state of the longest word that is a proper suffix of a state; 0 for none. */
  readonly shorter: Uint16Array;
}

/** Every word is of the alphabet above and not empty: tables are, and a test holds them to it. */
export function wordFinder(words: readonly string[]): WordFinder {
  const automaton = link(trieOf(words));
  return { find: (text, end, accept) => search(automaton, text, end, accept) };
}

function search(
  { next, words, longest, shorter }: Automaton,
  text: string,
  end: number,
  accept: ((hit: WordHit) => boolean) | undefined,
): WordHit | undefined {
  let state = 0;
  for (let at = 0; at < end; at += 1) {
    const symbol = symbolAt(text, at);
    state = symbol === WIDTH ? 0 : (next[state * WIDTH + symbol] ?? 0);
    // Text without hits never enters this loop; with hits it takes as many rounds as words end here.
    for (let word = longest[state] ?? 0; word !== 0; word = shorter[word] ?? 0) {
      const hit = { word: words[word] ?? "", end: at + 1 };
      if (accept === undefined || accept(hit)) return hit;
    }
  }
  return undefined;
}

type Trie = Pick<Automaton, "next" | "words">;

function trieOf(words: readonly string[]): Trie {
  const letters = words.reduce((sum, word) => sum + word.length, 1);
  const next = new Uint16Array(letters * WIDTH);
  const ends: (string | undefined)[] = [undefined];
  for (const word of words) {
    let state = 0;
    for (let at = 0; at < word.length; at += 1) {
      const edge = state * WIDTH + symbolAt(word, at);
      if (next[edge] === 0) next[edge] = ends.push(undefined) - 1;
      state = next[edge] ?? 0;
    }
    ends[state] = word;
  }
  return { next: next.subarray(0, ends.length * WIDTH), words: ends };
}

/** Breadth first, so that every fallback state is finished before its users. */
function link({ next, words }: Trie): Automaton {
  const suffix = new Uint16Array(words.length);
  const shorter = new Uint16Array(words.length);
  const longest = new Uint16Array(words.length);
  const queue = [0];
  for (const state of queue) {
    const fallback = suffix[state] ?? 0;
    shorter[state] = longest[fallback] ?? 0; // the root's own is 0 still
    longest[state] = words[state] === undefined ? (shorter[state] ?? 0) : state;
    queue.push(...linkEdges(next, suffix, state));
  }
  return { next, words, longest, shorter };
}

/** Points missing edges where the longest proper suffix of the path would go, and tells the children their own suffix. */
function linkEdges(next: Uint16Array, suffix: Uint16Array, state: number): readonly number[] {
  const children: number[] = [];
  for (let symbol = 0; symbol < WIDTH; symbol += 1) {
    const edge = state * WIDTH + symbol;
    const child = next[edge] ?? 0;
    const detour = state === 0 ? 0 : (next[(suffix[state] ?? 0) * WIDTH + symbol] ?? 0);
    if (child === 0) next[edge] = detour;
    else {
      suffix[child] = detour;
      children.push(child);
    }
  }
  return children;
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
  /** What stands before the word then: "last" + "minutemail". */
  readonly notAfter: readonly string[];
  /** What follows it: "mailtemp" + "late". */
  readonly notBefore: readonly string[];
}

const pairsOf = (...firsts: readonly string[]): readonly string[] =>
  PAIRS.filter((pair) => firsts.some((first) => pair.startsWith(first)));

/** Of 766 names on the bundled lists that hold a strong word these rows excuse one, "btc0010mine.tk" (2026-11). */
const ACCIDENTS: readonly AccidentRow[] = [
  // Templates of mail, a trade of its own.
  { words: ["mailtemp"], notAfter: [], notBefore: ["late"] },
  // 110 minutes, minds, miners, mines, mining, ministers, minor things.
  {
    words: ["10min"],
    notAfter: Array.from("0123456789"),
    notBefore: ["d", "er", "es", "ing", "is", "or"],
  },
  // Contemporary things.
  { words: pairsOf("temp"), notAfter: ["con"], notBefore: [] },
  { words: pairsOf("minute"), notAfter: ["last", "last-"], notBefore: ["er", "ing"] },
  // Campaigns against unwanted letters.
  { words: pairsOf("junk", "spam"), notAfter: ["stop", "stop-"], notBefore: [] },
];

const STRONG = wordFinder(STRONG_WORDS);
const ALONE = wordFinder(wordsOf("alone"));
const WEAK = wordFinder(WEAK_WORDS);

const HONEST: ReadonlySet<string> = new Set(wordsOf("honest"));

/** Names that a word hits by accident, those under them included. */
export const isHonest = ({ name, registrableDomain }: Domain): boolean =>
  HONEST.has(registrableDomain ?? name);

const ACCIDENTS_OF = new Map(ACCIDENTS.flatMap((row) => row.words.map((word) => [word, row])));

/** Whether a strong word stands there for itself, not as part of an honest one. */
function isMeant(name: string, { word, end }: WordHit): boolean {
  const row = ACCIDENTS_OF.get(word);
  if (row === undefined) return true;
  const start = end - word.length;
  return !(
    row.notAfter.some((before) => name.endsWith(before, start)) ||
    row.notBefore.some((after) => name.startsWith(after, end))
  );
}

const strongWord = (name: string, end: number): WordHit | undefined =>
  STRONG.find(name, end, (hit) => isMeant(name, hit)) ??
  ALONE.find(name, end, (hit) => standsAlone(name, hit));

const isLetterAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at); // NaN outside, which is no letter
  return code >= 97 && code <= 122;
};

/** Between hyphens, digits, dots and the ends of the name. */
function standsAlone(name: string, { word, end }: WordHit): boolean {
  return !isLetterAt(name, end) && !isLetterAt(name, end - word.length - 1);
}

/** Left of the public suffix: a strong word anywhere in a label, else a weak one that stands by itself. */
export function keywordEvidence(domain: Domain): Evidence | undefined {
  const { name, publicSuffix } = domain;
  const end = name.length - publicSuffix.length;
  const strong = strongWord(name, end);
  const found = strong ?? WEAK.find(name, end, (hit) => standsAlone(name, hit));
  if (found === undefined || isHonest(domain)) return undefined;
  return evidence(strong === undefined ? "keyword_weak" : "keyword_match", { subject: found.word });
}

export function hasStrongWord(name: string): boolean {
  return strongWord(name, name.length) !== undefined;
}
