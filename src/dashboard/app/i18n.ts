import type { ComponentChild } from "preact";

/** For `Intl`: dates of the page. */
export const LOCALE = "en-GB";

type Slots = Readonly<Record<string, string | number>>;

/** `text` with its slots filled. */
export const t = (text: string, slots: Slots = {}): string =>
  text.replaceAll(/\{(\w+)\}/g, (slot, name: string) => String(slots[name] ?? slot));

/** The same with elements in the slots: links, code, times. */
export function tx(
  text: string,
  slots: Readonly<Record<string, ComponentChild>>,
): ComponentChild[] {
  return text
    .split(/(\{\w+\})/)
    .map((piece) => (/^\{\w+\}$/.test(piece) ? (slots[piece.slice(1, -1)] ?? piece) : piece));
}

/** `make`'s value, made when it is first wanted: a formatter of `Intl` takes milliseconds on a slow phone. */
export function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

export const plural = (value: number, one: string, many: string): string =>
  value === 1 ? one : many;
