import { toUnicode } from "tr46";

/** Letters without a decomposition to the one they look like: confusables.txt of UTS 39, and Latin ones such as "ı". */
const TWINS: Readonly<Record<string, string>> = {
  a: "аα",
  c: "с",
  d: "ԁ",
  e: "е",
  g: "ɡ",
  h: "һ",
  i: "іıι",
  j: "ј",
  l: "ӏł",
  o: "оοø",
  p: "рρ",
  q: "ԛ",
  s: "ѕ",
  u: "υ",
  v: "ѵν",
  w: "ԝ",
  x: "х",
  y: "у",
};

const PLAIN_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries(TWINS).flatMap(([plain, twins]) =>
    Array.from(twins, (twin) => [twin, plain] as const),
  ),
);

const uLabels = (name: string): string => (name.includes("xn--") ? toUnicode(name).domain : name);

/** How a name in A-labels looks to a reader: without accents, and other scripts' letters as their twins. */
export function plainLook(name: string): string {
  const bare = uLabels(name).normalize("NFKD").replace(/\p{M}/gu, "");
  return Array.from(bare, (letter) => PLAIN_LETTERS.get(letter) ?? letter).join("");
}
