import type { ComponentChild } from "preact";
import { type Catalogue, EMPTY, keyOf } from "../words/catalogue/catalogue.ts";

/** The catalogue holds a translation into each of them; English is the text in the program. */
export const LANGUAGES = [
  ["en", "English"],
  ["de", "Deutsch"],
  ["es", "Español"],
  ["fr", "Français"],
] as const;
export type Language = (typeof LANGUAGES)[number][0];

/** Where the browser keeps a language that was chosen here. */
export const STORED_LANGUAGE = "gatepost-language";

const known = (tag: string | null): Language | undefined =>
  LANGUAGES.find(([name]) => tag === name || tag?.startsWith(`${name}-`) === true)?.[0];

function storedLanguage(): string | null {
  try {
    return localStorage.getItem(STORED_LANGUAGE);
  } catch {
    return null; // Storage may be switched off in the browser; tests have none.
  }
}

/** What the browser asks for, best first; nothing outside of a browser. */
const wished = (): readonly string[] =>
  typeof document === "undefined" ? [] : navigator.languages;

/** Chosen here before, else the browser's first language that there is, else English. */
export const language: Language =
  known(storedLanguage()) ??
  wished()
    .map(known)
    .find((name) => name !== undefined) ??
  "en";

/** For `Intl`: dates of the page, and numbers outside of English. */
export const LOCALE = language === "en" ? "en-GB" : language;

let catalogue: Catalogue = EMPTY;

export function addWords({ words, patterns }: Catalogue): void {
  catalogue = {
    words: new Map([...catalogue.words, ...words]),
    patterns: [...catalogue.patterns, ...patterns],
  };
}

type Slots = Readonly<Record<string, string | number>>;

const translated = (text: string): string => catalogue.words.get(keyOf(text)) ?? text;

const filled = (text: string, slots: Slots): string =>
  text.replaceAll(/\{(\w+)\}/g, (slot, name: string) => String(slots[name] ?? slot));

/** `text` in the reader's language with its slots filled. Every word that a reader sees passes here. */
export const t = (text: string, slots: Slots = {}): string => filled(translated(text), slots);

/** The same with elements in the slots: links, code, times. */
export function tx(
  text: string,
  slots: Readonly<Record<string, ComponentChild>>,
): ComponentChild[] {
  return translated(text)
    .split(/(\{\w+\})/)
    .map((piece) => (/^\{\w+\}$/.test(piece) ? (slots[piece.slice(1, -1)] ?? piece) : piece));
}

/** A sentence that the server made from one of the catalogue's; one that is not there stays as it is. */
export function said(text: string): string {
  for (const [pattern, words] of catalogue.patterns) {
    const found = pattern.exec(text);
    if (found !== null) return filled(words, found.groups ?? {});
  }
  return translated(text);
}

/** `make`'s value, made when it is first wanted: a formatter of `Intl` takes milliseconds on a slow phone. */
export function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

/** One of two sentences, by the plural rule of the language. `Intl.PluralRules` would take 15 ms of a first verdict. */
export const plural = (value: number, one: string, many: string): string =>
  (language === "fr" ? value < 2 : value === 1) ? one : many;
