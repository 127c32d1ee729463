import { rowsOf } from "../tables/rows.ts";
import * as TEXTS from "../tables/texts.ts";
import type { Outcome } from "./policy.ts";
import { sentenceFor, type Spoken } from "./sentence.ts";

export const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"] as const;
/** Spoken otherwise in a part of the world; what has no row of its own is said as in the language. */
const REGIONS = ["pt-BR"] as const;
export type Language = (typeof LANGUAGES)[number] | (typeof REGIONS)[number];

type Translations = ReadonlyMap<string, string>;

/** Each row without a tab names what the sentences below it are for, in all languages. None names a list. */
function wordsByUse(): ReadonlyMap<string, Translations> {
  const all = new Map<string, Translations>();
  let words = new Map<string, string>();
  for (const [name = "", sentence] of rowsOf(TEXTS.messages)) {
    if (sentence !== undefined) {
      words.set(name, sentence);
      continue;
    }
    words = new Map();
    for (const use of name.split(" ")) all.set(use, words);
  }
  return all;
}

const WORDS = wordsByUse();

/** The language of a BCP 47 tag: "de-AT" is "de", "pt-BR" itself; those we have no words in are English. */
export function languageOf(tag: string): Language {
  const [primary = "", ...more] = tag.slice(0, TAG_MAX).toLowerCase().split(/[-_]/);
  const region = REGIONS.find((each) =>
    more.some((part) => each.toLowerCase() === `${primary}-${part}`),
  );
  return region ?? LANGUAGES.find((language) => language === primary) ?? "en";
}

const TAG = /^[a-z]{2,8}(-[a-z\d]{1,8})*$/i;
const TAG_MAX = 35;

/** The tag that is wanted most, and has words here, of a tag, a locale or a whole Accept-Language; else the first; "" for none. */
export function wantedLanguage(text: string): string {
  if (text === "") return "";
  const tags = text
    .slice(0, 1_000)
    .replaceAll("_", "-")
    .split(",", 20)
    .map((part) => {
      const [tag = "", ...terms] = part.split(";").map((term) => term.trim());
      const quality = Number(terms.find((term) => /^q=/i.test(term))?.slice(2) ?? 1);
      return { tag, quality: Number.isNaN(quality) ? 0 : quality };
    })
    .filter(({ tag, quality }) => tag.length <= TAG_MAX && TAG.test(tag) && quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
  return tags.find((tag) => languageOf(tag) !== "en" || /^en\b/i.test(tag)) ?? tags[0] ?? "";
}

const wordsIn =
  (language: Language) =>
  (use: string): string | undefined => {
    const found = WORDS.get(use);
    return found?.get(language) ?? found?.get(language.slice(0, 2));
  };

export function translationsFor(tag: string): Readonly<Record<string, string>> {
  const words = wordsIn(languageOf(tag));
  return Object.fromEntries(
    [...WORDS.keys()].flatMap((use) => {
      const found = words(use);
      return found === undefined ? [] : [[use, found]];
    }),
  );
}

export const messageFor = (outcome: Outcome, spoken: Spoken): string | undefined =>
  sentenceFor(outcome, spoken, (use) => wordsIn(languageOf(spoken.language))(use));
