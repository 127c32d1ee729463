import { strict as assert } from "node:assert";
import { test } from "node:test";
import { csvLine, unguarded } from "./result-cells.ts";

const cases = [
  ["plain cells", ["a", "b c", ""], "a,b c,\r\n"],
  ["a comma", ["a,b"], '"a,b"\r\n'],
  ["quotes", ['say "hi"'], '"say ""hi"""\r\n'],
  ["line breaks", ["a\nb", "c\rd"], '"a\nb","c\rd"\r\n'],
  ["an equals sign", ["=1+1"], "'=1+1\r\n"],
  ["a sum", ["+1+1"], "'+1+1\r\n"],
  ["a call behind a minus", ["-cmd(x)"], "'-cmd(x)\r\n"],
  ["a number", ["-1", "+1.5"], "-1,+1.5\r\n"],
  ["a telephone number", ["+49 (0)171 1234567"], "+49 (0)171 1234567\r\n"],
  ["telephone numbers of Google", ["+49 30 1 ::: +49 30 2"], "+49 30 1 ::: +49 30 2\r\n"],
  ["a formula behind numbers", ["+1 ::: =A1"], "'+1 ::: =A1\r\n"],
  ["a handle", ["@eva"], "@eva\r\n"],
  ["an at sign", ["@SUM(A1)"], "'@SUM(A1)\r\n"],
  ["a tab", ["\t=1"], `"'\t'=1"\r\n`],
  ["a carriage return", ["\r=1"], `"'\r'=1"\r\n`],
  ["a full-width equals sign", ["\uff1d1"], "'\uff1d1\r\n"],
  ["a formula with a comma", ["=A1,B1"], '"\'=A1,B1"\r\n'],
  ["a formula behind a semicolon", ["x;=cmd|'/c calc'!A0;"], `"x;'=cmd|'/c calc'!A0;"\r\n`],
  ["a formula behind a comma", ["x, =A1"], `"x,' =A1"\r\n`],
  [
    "a formula behind a tab, and one behind a line break",
    ["x\t=A1\n@A(1)"],
    `"x\t'=A1\n'@A(1)"\r\n`,
  ],
  ["numbers behind separators", ["1;-2,+3 4"], '"1;-2,+3 4"\r\n'],
  ["signs inside are text", ["a=b", "a+b@x.example"], "a=b,a+b@x.example\r\n"],
] as const;

for (const [name, cells, want] of cases) {
  test(`a line of CSV: ${name}`, () => {
    assert.equal(csvLine(cells), want);
  });
}

test("a line with blanks between its cells has each cell in quotes that needs them", () => {
  assert.equal(csvLine(["Jo Ash", "", "1.5"], " ", "\n"), '"Jo Ash" "" 1.5\n');
});

test("a guarded cell is read back as it was, and is guarded once", () => {
  for (const [name, cells] of cases) {
    for (const cell of cells) {
      const line = csvLine([cell]).slice(0, -2);
      const guarded = line.startsWith('"') ? line.slice(1, -1).replaceAll('""', '"') : line;
      assert.equal(unguarded(guarded), cell, name);
      assert.equal(csvLine([guarded]).slice(0, -2), line, name);
    }
  }
});

const UNSEEN = [
  "\ufeff",
  "\u00a0",
  "\u200b",
  "\v",
  "  ",
  "\u2060\u3000",
  "\0",
  "\u001b",
  "\u0085",
  "\u202a",
  "\u202e",
  "\u2066",
  "\u2069",
  "\u061c",
  "\u200f\u2067", // direction
  "\u00ad",
  "\u034f",
  "\u180e",
  "\u2062",
  "\u2800",
  "\u3164",
  "\ufe0f",
  "\u{e0020}",
];

for (const start of UNSEEN) {
  const name = Array.from(start, (one) => one.codePointAt(0)?.toString(16)).join(" ");
  test(`a formula behind U+${name} is guarded`, () => {
    for (const sign of ["=", "+", "-", "@", "\uff1d", "\ufe66", "\t", "\r"]) {
      assert.equal(/^"?'/.test(csvLine([`${start}${sign}=1+1`])), true, sign);
    }
    assert.equal(csvLine([`${start}plain`]).startsWith("'"), false);
  });
}
