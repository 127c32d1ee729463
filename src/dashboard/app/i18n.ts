import type { ComponentChild } from "preact";

/** English sentence -> the same in another language. Slots are {named}. */
export type Catalogue = Readonly<Record<string, string>>;

export const LANGUAGES = [
  ["en", "English"],
  ["de", "Deutsch"],
  ["fr", "Français"],
  ["es", "Español"],
] as const;
export type Language = (typeof LANGUAGES)[number][0];

/** Where the browser keeps a language that was chosen here. */
export const STORED_LANGUAGE = "gatepost-language";

/** Languages whose catalogue is whole. */
export const OFFERED: readonly Language[] = ["en"];

const known = (tag: string | null | undefined): Language | undefined =>
  OFFERED.find((name) => tag === name || tag?.startsWith(`${name}-`) === true);

function storedLanguage(): string | null {
  try {
    return localStorage.getItem(STORED_LANGUAGE);
  } catch {
    return null; // Storage may be switched off in the browser; tests have none.
  }
}

const wishedLanguages = (): readonly string[] =>
  typeof navigator === "undefined" ? [] : navigator.languages;

/** Chosen here before, else the browser's first language that there is, else English. */
export const language: Language =
  known(storedLanguage()) ??
  wishedLanguages()
    .map(known)
    .find((name) => name !== undefined) ??
  "en";

let catalogue: Catalogue = {};

export function setCatalogue(loaded: Catalogue): void {
  catalogue = loaded;
}

type Slots = Readonly<Record<string, string | number>>;

/** `text` in the reader's language, its slots filled. The English text is the key of the catalogue. */
export function t(text: string, slots: Slots = {}): string {
  const found = Object.hasOwn(catalogue, text) ? (catalogue[text] ?? text) : text;
  return found.replaceAll(/\{(\w+)\}/g, (slot, name: string) => String(slots[name] ?? slot));
}

/** The same with elements in the slots: links, code, times. */
export function tx(
  text: string,
  slots: Readonly<Record<string, ComponentChild>>,
): ComponentChild[] {
  return t(text)
    .split(/(\{\w+\})/)
    .map((piece) => (/^\{\w+\}$/.test(piece) ? (slots[piece.slice(1, -1)] ?? piece) : piece));
}

const PLURALS = new Intl.PluralRules(language);

/** One of two sentences, by the plural rule of the language. */
export const plural = (value: number, one: string, many: string): string =>
  PLURALS.select(value) === "one" ? one : many;

/** For `Intl`: dates and numbers of the language. */
export const LOCALE = language === "en" ? "en-GB" : language;
