import type { Domain } from "../../name/domain.ts";
import { type Evidence, evidence } from "../signals.ts";
import {
  ACCIDENTS,
  NOT_DISPOSABLE_BY_NAME,
  STRONG_ALONE,
  STRONG_WORDS,
  WEAK_WORDS,
} from "../../tables/keywords.ts";
import { wordFinder, type WordHit } from "./word-finder.ts";

const STRONG = wordFinder(STRONG_WORDS);
const ALONE = wordFinder(STRONG_ALONE);
const WEAK = wordFinder(WEAK_WORDS);

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

/**
 * The strongest word left of the public suffix: `keyword_match` for a strong one anywhere in a label, else
 * `keyword_weak` for a weak one that stands by itself; undefined for neither.
 */
export function keywordEvidence(domain: Domain): Evidence | undefined {
  const { name, publicSuffix, registrableDomain } = domain;
  const end = name.length - publicSuffix.length;
  const strong = strongWord(name, end);
  const found = strong ?? WEAK.find(name, end, (hit) => standsAlone(name, hit));
  if (found === undefined || NOT_DISPOSABLE_BY_NAME.has(registrableDomain ?? name))
    return undefined;
  return evidence(strong === undefined ? "keyword_weak" : "keyword_match", { subject: found.word });
}

/** Whether a strong word stands anywhere in `name`, its public suffix included. */
export function hasStrongWord(name: string): boolean {
  return strongWord(name, name.length) !== undefined;
}
