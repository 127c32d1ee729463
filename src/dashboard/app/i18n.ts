import type { ComponentChild } from "preact";

type Slots = Readonly<Record<string, string | number>>;

/** A sentence with its slots filled. Every word that a reader sees passes here, so that languages have one place. */
export function t(text: string, slots: Slots = {}): string {
  return text.replaceAll(/\{(\w+)\}/g, (slot, name: string) => String(slots[name] ?? slot));
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

const PLURALS = new Intl.PluralRules("en");

/** One of two sentences, by the plural rule. */
export const plural = (value: number, one: string, many: string): string =>
  PLURALS.select(value) === "one" ? one : many;

/** For `Intl`: dates and numbers of the page. */
export const LOCALE = "en-GB";
