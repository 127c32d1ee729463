import { strict as assert } from "node:assert";
import { test } from "node:test";
import { csvLine } from "./csv-text.ts";

const cases = [
  ["plain cells", ["a", "b c", ""], "a,b c,\r\n"],
  ["a comma", ["a,b"], '"a,b"\r\n'],
  ["quotes", ['say "hi"'], '"say ""hi"""\r\n'],
  ["line breaks", ["a\nb", "c\rd"], '"a\nb","c\rd"\r\n'],
  ["an equals sign", ["=1+1"], "'=1+1\r\n"],
  ["a plus", ["+1"], "'+1\r\n"],
  ["a minus", ["-1"], "'-1\r\n"],
  ["an at sign", ["@SUM(A1)"], "'@SUM(A1)\r\n"],
  ["a tab", ["\t=1"], '"\'\t=1"\r\n'],
  ["a carriage return", ["\r=1"], '"\'\r=1"\r\n'],
  ["a full-width equals sign", ["\uff1d1"], "'\uff1d1\r\n"],
  ["a formula with a comma", ["=A1,B1"], '"\'=A1,B1"\r\n'],
  ["signs inside are text", ["a=b", "a+b@x.example"], "a=b,a+b@x.example\r\n"],
] as const;

for (const [name, cells, want] of cases) {
  test(`a line of CSV: ${name}`, () => {
    assert.equal(csvLine(cells), want);
  });
}

for (const start of ["\ufeff", "\u00a0", "\u200b", "\v", "  ", "\u2060\u3000"]) {
  test(`a formula behind U+${(start.codePointAt(0) ?? 0).toString(16)} is guarded`, () => {
    assert.equal(csvLine([`${start}=1+1`]).startsWith("'"), true);
    assert.equal(csvLine([`${start}plain`]).startsWith("'"), false);
  });
}
