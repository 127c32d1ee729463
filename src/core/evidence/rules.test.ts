import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type ListWord, listSubjectText, mayBeSaid, readListSubject, rulesOf } from "./rule.ts";

/** No secret, but 32 digits like one. */
const hashOf = (canonical: string): string =>
  Array.from(canonical)
    .reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) >>> 0, 7)
    .toString(16)
    .padStart(32, "0");

const stored = (text: string): string => {
  const read = readListSubject(text);
  return read.ok ? listSubjectText(read.value, hashOf) : read.fault;
};

const forms = [
  ["a domain is itself in lower case", "Shop.Example", "shop.example"],
  ["blanks around it and a trailing dot do not count", "  shop.example. ", "shop.example"],
  ["U-labels become A-labels", "*.bücher.example", "*.xn--bcher-kva.example"],
  ["a suffix may be a top-level domain", "*.tk", "*.tk"],
  ["a mail host keeps its mark", "MX:mail.Shop.example", "mx:mail.shop.example"],
  ["a mail host may be a suffix", "mx:*.shop.example", "mx:*.shop.example"],
  ["a mail host of a large proxy", "mx:_DC-mx.0A1b.shop.example.", "mx:_dc-mx.0a1b.shop.example"],
  ["mail hosts under a suffix of any name", "mx:*._a.shop.example", "mx:*._a.shop.example"],
  ["an address is its hash", "a@shop.example", `address:${hashOf("a@shop.example")}@shop.example`],
  [
    "every spelling of a mailbox has the same hash",
    "A.d.a+x@googlemail.com",
    `address:${hashOf("ada@gmail.com")}@gmail.com`,
  ],
  ["a feed keeps its mark", " feed:castle ", "feed:castle"],
  ["a top-level domain by itself is refused", "tk", "dotless"],
  ["a URL is refused", "https://shop.example/", "domain_char"],
  ["a star elsewhere is refused", "a.*.example", "domain_char"],
  ["two stars are refused", "*.*.example", "domain_char"],
  ["an address literal is refused", "a@[192.0.2.1]", "literal"],
  ["a mail host's address is refused", "mx:192.0.2.1", "tld_shape"],
  ["a mail host with a blank is refused", "mx:a b.example", "domain_char"],
  ["nothing is refused", "   ", "empty"],
  ["a mark with nothing behind it is refused", "mx:", "empty"],
] as const;

for (const [name, text, want] of forms) {
  test(name, () => {
    assert.equal(stored(text), want);
  });
}

test("the stored form is its own stored form", () => {
  for (const [, text] of forms.slice(0, 11)) assert.equal(stored(stored(text)), stored(text));
});

test("an enormous entry is refused unread", () => {
  assert.equal(stored("a".repeat(5_000_000)), "length");
});

test("a trap is no mail host, an account is an address", () => {
  const may = (word: ListWord, text: string): boolean => {
    const read = readListSubject(text);
    assert.ok(read.ok);
    return mayBeSaid(word, read.value);
  };
  assert.equal(may("pristine", "mx:mail.example.org"), false);
  assert.equal(may("pristine", "a@example.org"), true);
  assert.equal(may("account", "example.org"), false);
  assert.equal(may("account", "a@example.org"), true);
  assert.equal(may("deny", "mx:mail.example.org"), true);
  assert.equal(may("off", "feed:castle"), true);
  assert.equal(may("deny", "feed:castle"), false);
  assert.equal(may("off", "example.org"), false);
});

const lists = rulesOf(
  (
    [
      ["deny", "bad.example"],
      ["deny", "*.wide.example"],
      ["allow", "good.wide.example"],
      ["deny", "*.deep.wide.example"],
      ["allow", "mx:*.mail.example"],
      ["deny", "mx:one.mail.example"],
      ["account", "known@gmail.com"],
      ["allow", "friend@bad.example"],
      ["pristine", "trap@bad.example"],
      ["recycled", "*.old.example"],
    ] as const
  ).map(([word, text]) => ({ word, subject: stored(text) })),
  hashOf,
);

const answers = [
  ["a domain that was named", lists.domain("bad.example"), "deny"],
  ["a name below a suffix has no entry of its own", lists.named("a.b.wide.example"), undefined],
  ["a name with an entry of its own", lists.named("good.wide.example"), "allow"],
  ["a name below it was not named", lists.domain("a.bad.example"), undefined],
  ["a name below a suffix", lists.domain("a.b.wide.example"), "deny"],
  ["the suffix itself is not below it", lists.domain("wide.example"), undefined],
  ["a name that only ends alike", lists.domain("notwide.example"), undefined],
  ["the name itself before the suffix", lists.domain("good.wide.example"), "allow"],
  ["a mail host by suffix", lists.mailHost("two.mail.example"), "allow"],
  ["a mail host by name", lists.mailHost("one.mail.example"), "deny"],
  ["a mail host is no domain", lists.domain("one.mail.example"), undefined],
  ["a known account", lists.address("known@gmail.com"), "account"],
  ["another account there", lists.address("other@gmail.com"), undefined],
  ["an allowed address", lists.address("friend@bad.example"), "allow"],
  ["a trap address is not denied", lists.address("trap@bad.example"), undefined],
  ["a trap address", lists.trap("trap@bad.example"), "pristine"],
  ["a trap domain by suffix", lists.trap("a.old.example"), "recycled"],
  ["no trap", lists.trap("bad.example"), undefined],
] as const;

for (const [name, got, want] of answers) {
  test(`answers for ${name}`, () => {
    assert.equal(got, want);
  });
}

test("addresses at domains without an entry are never hashed", () => {
  const said = [{ word: "deny", subject: stored("a@one.example") }] as const;
  const unhashed = rulesOf(said, () => assert.fail("hashed"));
  assert.equal(unhashed.address("b@two.example"), undefined);
});

test("entries that this version cannot read are left out", () => {
  const odd = rulesOf([{ word: "deny", subject: "ns:a.example" }], hashOf);
  assert.equal(odd.domain("a.example"), undefined);
});
