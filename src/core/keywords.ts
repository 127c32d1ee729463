import type { Domain } from "./domain.ts";
import { type Evidence, evidence } from "./signals.ts";
import { NOT_DISPOSABLE_BY_NAME, STRONG_WORDS, WEAK_WORDS } from "./tables/keywords.ts";
import { wordFinder, type WordHit } from "./word-finder.ts";

const STRONG = wordFinder(STRONG_WORDS);
const WEAK = wordFinder(WEAK_WORDS);

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
  const strong = STRONG.find(name, end);
  const found = strong ?? WEAK.find(name, end, (hit) => standsAlone(name, hit));
  if (found === undefined || NOT_DISPOSABLE_BY_NAME.has(registrableDomain ?? name))
    return undefined;
  return evidence(strong === undefined ? "keyword_weak" : "keyword_match", { subject: found.word });
}

/** Whether a strong word stands anywhere in `name`, its public suffix included. */
export function hasStrongWord(name: string): boolean {
  return STRONG.find(name, name.length) !== undefined;
}
