import { strict as assert } from "node:assert";
import { test } from "node:test";
import { trimEntry } from "./address.ts";

test("exactly Unicode white space, U+FEFF and U+200B are dropped at both ends", () => {
  for (let code = 0; code <= 0xffff; code += 1) {
    const sign = String.fromCharCode(code);
    const isDropped = /[\p{White_Space}\ufeff\u200b]/u.test(sign);
    const text = `${sign}${sign}jo@x.example${sign}`;
    const want = isDropped ? "jo@x.example" : text;
    assert.equal(trimEntry(text), want, `U+${code.toString(16)}`);
  }
  assert.equal(trimEntry("jo\u00a0@x.example"), "jo\u00a0@x.example");
  assert.equal(trimEntry(" \u3000"), "");
});
