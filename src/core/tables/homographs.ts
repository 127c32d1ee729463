/**
 * Letters that look like a plain one and have no decomposition to it: of other scripts by Unicode's confusables (UTS 39,
 * confusables.txt), and Latin ones, above all the dotless "ı" that a Turkish keyboard has beside the "i".
 */
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

/** The plain letter of each. */
export const PLAIN_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries(TWINS).flatMap(([plain, twins]) =>
    Array.from(twins, (twin) => [twin, plain] as const),
  ),
);
