/** One language's sentences, as the build makes them from the tables beside this file. */
export interface Catalogue {
  /** By `keyOf` of the English text. */
  readonly words: ReadonlyMap<string, string>;
  /** For sentences that the server fills: what the English text looks like, with its slots as groups. */
  readonly patterns: readonly (readonly [english: RegExp, words: string])[];
}

export const EMPTY: Catalogue = { words: new Map(), patterns: [] };

/** A row of a table: the English text, and the same in each other language. */
export type Row = Readonly<Record<"en" | "de" | "es" | "fr", string>>;

/** Short name of an English text (FNV-1a, 24 bits), so that catalogues do not hold the English as well. */
export function keyOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 8).toString(36);
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);

/** What a sentence looks like after the server filled its {slots}. */
const patternOf = (english: string): RegExp =>
  new RegExp(`^${escaped(english).replaceAll(/\{(\w+)\}/g, "(?<$1>.+)")}$`, "s");

/** A file of the build: sentences by key, and those with slots that the server fills. */
export interface Built {
  readonly words: Readonly<Record<string, string>>;
  readonly patterns: readonly (readonly [english: string, words: string])[];
}

export const catalogueOf = ({ words, patterns }: Built): Catalogue => ({
  words: new Map(Object.entries(words)),
  patterns: patterns.map(([english, text]) => [patternOf(english), text]),
});

/** French sets a blank before ":", ";", "?", "!" and inside quotes, where a line must not break. */
const unbroken = (text: string, language: keyof Row): string =>
  language === "fr" ? text.replaceAll(/ (?=[:;?!»%])|(?<=«) /g, "\u00a0") : text;

/** `isServer`: a table of sentences that the server sends. */
export function builtOf(rows: readonly Row[], language: keyof Row, isServer: boolean): Built {
  const isPattern = ({ en }: Row): boolean => isServer && /\{\w+\}/.test(en);
  return {
    words: Object.fromEntries(
      rows
        .filter((row) => !isPattern(row))
        .map((row) => [keyOf(row.en), unbroken(row[language], language)]),
    ),
    patterns: rows.filter(isPattern).map((row) => [row.en, unbroken(row[language], language)]),
  };
}
