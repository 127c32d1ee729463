/** What a visitor can put into the fields of a form, as an application passes it on in JSON. */

const nested = (depth: number): unknown => {
  let value: unknown = "jo@bad.example";
  for (let at = 0; at < depth; at += 1) value = at % 2 === 0 ? [value] : { email: value };
  return value;
};

const BETWEEN = [";", ",", " ", "; ", ", ", "\t", "\n", "\r\n", "|", "/", "\u0000", "\u00a0"];
const AROUND = [
  "\u0000",
  "\u0001",
  "\u001b[31m",
  "\u007f",
  "\u200b\u200d",
  "\u202e",
  "\ufeff\ufeff",
  "\ud800",
  "\ufffd",
];
const BEHIND = [
  "x@x",
  "victim@good.example",
  "jo@good.example",
  "@",
  "<script>",
  "%00",
  "%0a%0d",
  "'--",
  "\\",
];

const SEVERAL = BETWEEN.flatMap((by) => BEHIND.map((other) => `jo@bad.example${by}${other}`));
const FIRST = BETWEEN.map((by) => `x@x${by}jo@bad.example`);
const CONTROLS = AROUND.flatMap((by) => [`jo${by}@bad.example`, `jo@bad.example${by}x`, `${by}@`]);
const LONG = [100, 255, 1_000, 10_000, 200_000].flatMap((length) => [
  "a".repeat(length),
  `${"a".repeat(length)}@bad.example`,
  `jo@${"a.".repeat(length / 2)}example`,
  "@".repeat(length),
]);
const OTHER_TYPES: readonly unknown[] = [
  0,
  -1,
  1.5,
  1e308,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  ["jo@bad.example"],
  ["jo@bad.example", "jo@good.example"],
  ["jo@good.example", 1],
  { email: "jo@bad.example" },
  { length: 1, 0: "jo@bad.example" },
  { toString: "jo@good.example" },
  { __proto__: null, constructor: "x" },
  nested(3),
  nested(15),
  nested(40),
  nested(2_000),
  Array.from({ length: 5_000 }, () => ["jo@bad.example"]),
  Array.from({ length: 20_000 }, () => "jo@bad.example"),
  Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${String(at)}`, at])),
];
const NO_ADDRESS = [
  "",
  " ",
  "\n",
  "jo",
  "jo@",
  "@bad.example",
  "jo@bad",
  "jo@@bad.example",
  "jo@bad..example",
  "jo@-bad.example",
  "jo@bad.example.",
  "jo@[127.0.0.1]",
  "mailto:jo@bad.example",
  "Jo <jo@bad.example>",
  "<jo@bad.example>",
  "jo(c)@bad.example",
  "jo@bad.example?cc=x@x",
  "undefined",
  "null",
  "[object Object]",
  "{}",
  "[]",
  "__proto__",
  "constructor",
  "😀",
  "\ud83d@bad.example",
];

/** None of them is an address that may sign up; nothing at all is `undefined`. */
export const HOSTILE: readonly unknown[] = [
  undefined,
  null,
  ...SEVERAL,
  ...FIRST,
  ...CONTROLS,
  ...LONG,
  ...OTHER_TYPES,
  ...NO_ADDRESS,
];

/** Those that are malformed or listed texts of at most 1,001 characters, with another listed domain; JSON of every language reads them. */
export const hiddenIn = (domain: string): readonly string[] =>
  HOSTILE.filter((value) => typeof value === "string")
    .map((text) => text.replaceAll("bad.example", domain))
    .filter((text) => text.length <= 1_001 && Buffer.from(text).toString() === text)
    .filter((text) => !/^jo@(?:a\.)+example$/.test(text));
