import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { bulkText } from "./params.ts";

const cases = [
  ["a plus before a raw at sign is a plus sign", "a+b@x.example", "a+b@x.example"],
  [
    "a plus between encoded addresses is a blank",
    "a%40x.example+b%40y.example",
    "a@x.example b@y.example",
  ],
  ["a plus before an encoded at sign is a blank", "a+b%40x.example", "a b@x.example"],
  [
    "an encoded plus before an encoded at sign is a plus sign",
    "a%2Bb%40x.example",
    "a+b@x.example",
  ],
  ["an encoded plus is a plus sign in a token without an at sign", "a%2bb", "a+b"],
  [
    "pluses between domains are blanks",
    "x.example+y.example+z.example",
    "x.example y.example z.example",
  ],
  [
    "a plus after the at sign is a blank and the next token starts there",
    "a@x.example+b+c@y.example",
    "a@x.example b+c@y.example",
  ],
  [
    "several raw addresses joined with pluses come apart",
    "a@x.example+b@y.example",
    "a@x.example b@y.example",
  ],
  ["a comma ends a token", "x+y,a+b@z.example", "x y,a+b@z.example"],
  ["an encoded comma ends a token", "x+y%2Ca+b@z.example", "x y,a+b@z.example"],
  ["an encoded line feed ends a token", "x+y%0Aa+b@z.example", "x y\na+b@z.example"],
  ["an encoded carriage return ends a token", "x+y%0da+b@z.example", "x y\ra+b@z.example"],
  ["an encoded tab ends a token", "x+y%09a+b@z.example", "x y\ta+b@z.example"],
  ["an encoded blank ends a token", "x+y%20a+b@z.example", "x y a+b@z.example"],
  ["a raw line feed ends a token", "x+y\na+b@z.example", "x y\na+b@z.example"],
  ["a second at sign does not bring pluses back", "a@b@c+d", "a@b@c d"],
  ["a plus at the very end is a blank", "a@x.example+", "a@x.example "],
  ["pluses alone are blanks", "+++", "   "],
  ["a stray percent sign stays", "100%+a@x.example", "100%+a@x.example"],
  ["a percent sign at the end stays", "a+b%", "a b%"],
  ["bytes that are not UTF-8 become the replacement character", "%ff+b", "\ufffd b"],
  ["an empty value stays empty", "", ""],
] as const;

for (const [name, raw, want] of cases) {
  test(name, () => {
    assert.equal(bulkText(raw), want);
  });
}

/** The rule once more, token by token with splits in place of scans. */
function slowly(raw: string): string {
  let rest = raw;
  let out = "";
  while (rest !== "") {
    const end = /,|[ \t\r\n]|%2c|%20|%0[9ad]/i.exec(rest);
    const stretch = end === null ? rest : rest.slice(0, end.index);
    out += readStretch(stretch) + (end?.[0] ?? "");
    rest = rest.slice(stretch.length + (end?.[0].length ?? 0));
  }
  return out;
}

function readStretch(stretch: string): string {
  const sign = /@|%40/.exec(stretch);
  if (sign === null) return stretch.replaceAll("+", " ");
  const local = stretch.slice(0, sign.index);
  const tail = stretch.slice(sign.index + sign[0].length);
  const plus = tail.indexOf("+");
  const head = (sign[0] === "@" ? local : local.replaceAll("+", " ")) + sign[0];
  if (plus < 0) return head + tail;
  return `${head}${tail.slice(0, plus)} ${readStretch(tail.slice(plus + 1))}`;
}

test("agrees with the rule written token by token on generated values", () => {
  const piece = fc.constantFrom("a", "+", "@", "%40", "%2B", "%20", "%2c", ",", "\n", "%0a", ".");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const raw = pieces.join("");
      assert.equal(bulkText(raw), decodeURIComponent(slowly(raw)));
    }),
    { numRuns: 5_000, seed: 2 },
  );
});

const hostile = [
  ["six million pluses", "+".repeat(6_000_000), 6_000_000],
  ["six million pluses before one at sign", `${"+".repeat(6_000_000)}@x`, 6_000_002],
  ["two million at signs with a plus between", "@+".repeat(2_000_000), 4_000_000],
  ["a million stray percent signs", "%+".repeat(1_000_000), 2_000_000],
  ["a million invalid octets", "%ff".repeat(1_000_000), 1_000_000],
] as const;

for (const [name, raw, want] of hostile) {
  test(`${name} are read to the end`, () => {
    assert.equal(bulkText(raw).length, want);
  });
}
