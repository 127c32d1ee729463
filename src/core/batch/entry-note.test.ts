import assert from "node:assert/strict";
import { test } from "node:test";
import { addressBalance, entryNote, type ListKind } from "./result-cells.ts";

const CASES: readonly (readonly [name: string, text: string, among: ListKind, want: string])[] = [
  ["two dots in a row", "a..b@x.co", "anything", "dot_dot"],
  ["a malformed domain keeps its own reason", "foo", "addresses", "dotless"],
  ["an address has none", "jo@gmail.com", "addresses", ""],
  ["a domain among domains has none", "zo1827gmail.com", "anything", ""],
  ["an address that lost its at sign", "zo1827gmail.com", "addresses", "lost_at zo1827@gmail.com"],
  ["the longest provider counts", "Jo.Doehotmail.com", "addresses", "lost_at Jo.Doe@hotmail.com"],
  ["an at sign written out", "Anna (at) web.de", "anything", "lost_at Anna@web.de"],
  ["an at sign in words", "anna at shop.example", "anything", "lost_at anna@shop.example"],
  ["brackets around nothing", "anna[at]", "addresses", "domain_char"],
  ["a dot for the at sign", "Luis.Garcia.gmail.com", "addresses", "lost_at Luis.Garcia@gmail.com"],
  ["a dot before a short provider", "anna.web.de", "addresses", "lost_at anna@web.de"],
  ["a host of a provider", "smtp.mail.yahoo.com", "addresses", "bare_domain"],
  ["a numbered host of a provider", "mx01.web.de", "addresses", "bare_domain"],
  ["a name that ends like a short provider", "hellweb.de", "addresses", "bare_domain"],
  ["a provider alone is a bare domain", "gmail.com", "addresses", "bare_domain"],
  ["a longer provider is a bare domain", "hotmail.com", "addresses", "bare_domain"],
  ["a sub-domain is a bare domain", "mx.gmail.com", "addresses", "bare_domain"],
  ["any other domain is a bare domain", "shop.example", "addresses", "bare_domain"],
];

for (const [name, text, among, want] of CASES) {
  test(`notes: ${name}`, () => {
    const note = entryNote(text, among);
    assert.equal([note?.code, note?.did_you_mean].filter(Boolean).join(" "), want);
    if (note !== undefined) assert.match(note.message, /^[A-Z].*[.?]$/);
  });
}

test("notes: a list of addresses has more with an at sign than without", () => {
  assert.equal(addressBalance(["a@b", "c"]), 0);
  assert.equal(addressBalance(["a@b", "c@d", "e"]), 1);
});

const MALFORMED: readonly (readonly [text: string, meant: string | undefined])[] = [
  ["jo@gmail..com", "jo@gmail.com"],
  ["gmailcom", "gmail.com"],
  ["jo@web.d", "jo@web.de"],
  [" jo@gmail,com ", "jo@gmail.com"],
  ["jo@localhost", undefined],
  ["jo@@gmail.com", "jo@gmail.com"],
  ["jo doe@gmailcom", undefined],
  [`jo@${"gmail.".repeat(100_000)}`, undefined],
];

for (const [text, meant] of MALFORMED) {
  test(`a malformed entry near a large provider: ${text.slice(0, 20)}`, () => {
    assert.equal(entryNote(text, "anything")?.did_you_mean, meant);
  });
}
