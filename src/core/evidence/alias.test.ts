import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseAddress } from "../address/address.ts";
import { aliasOf, canonicalAddress, MAILBOX_RULES } from "./alias.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";
import { effort } from "../../../test/process/effort.ts";

const mailAt = (host: string | undefined): MailHosts =>
  host === undefined ? { kind: "unknown" } : { kind: "hosts", hosts: [host], implicit: false };

function addressOf(text: string) {
  const parsed = parseAddress(text);
  assert.ok(parsed.ok, `${text} is an address`);
  return parsed.value;
}

const GOOGLE = "aspmx.l.google.com";
const YAHOO = "mta5.am0.yahoodns.net";
const FASTMAIL = "in1-smtp.messagingengine.com";

type AliasCase = readonly [name: string, address: string, host: string | undefined, want: boolean];

const ALIASES: readonly AliasCase[] = [
  ["a detail behind a plus", "joe+news@shop.example", undefined, true],
  ["a plus with nothing behind it", "joe+@shop.example", undefined, true],
  ["a plus with nobody in front", "+news@shop.example", undefined, false],
  ["an ordinary address", "joe.smith@shop.example", GOOGLE, false],
  ["dots at Gmail are one mailbox, not an alias", "j.o.e@gmail.com", undefined, false],
  ["a hyphen is part of a name", "joe-news@shop.example", GOOGLE, false],
  ["a hyphen at Yahoo", "joe-news@yahoo.co.uk", undefined, true],
  ["a hyphen in front at Yahoo", "-news@yahoo.com", undefined, false],
  ["a plus means nothing at Yahoo", "joe+news@yahoo.com", undefined, false],
  ["a hyphen at a host of tables/tag-separators.txt", "joe-news@jtan.com", undefined, true],
  ["an equals sign is part of a name", "joe=news@shop.example", undefined, false],
  ["a hyphen at a customer of Yahoo", "joe-news@shop.example", YAHOO, true],
  ["a name that only looks like Yahoo", "joe-news@yahoo.shop.example", undefined, false],
  ["a user as a sub-domain of Fastmail", "news@joe.fastmail.com", undefined, true],
  ["a user as a sub-domain of a customer of Fastmail", "news@joe.shop.example", FASTMAIL, true],
  ["two labels are no user", "news@a.joe.fastmail.com", undefined, false],
  ["Fastmail itself", "joe@fastmail.com", FASTMAIL, false],
  ["a sub-domain elsewhere is none", "news@joe.shop.example", GOOGLE, false],
  ["in quotes that it does not need", '"joe+news"@shop.example', undefined, true],
  ["in quotes that it needs", '"joe smith+news"@shop.example', undefined, true],
  ["in escapes", '"joe\\+news"@shop.example', undefined, true],
  ["a relay", "k3jd8@mozmail.com", undefined, true],
  ["a name below a relay", "shop@joe.anonaddy.me", undefined, true],
  ["a customer's domain at a relay", "shop@joe.example", "mx1.simplelogin.co", true],
  ["a quoted local part at a relay", '"joe"@duck.com', undefined, true],
];

for (const [name, address, host, want] of ALIASES) {
  test(`alias: ${name}`, () => {
    assert.equal(aliasOf(addressOf(address), mailAt(host)) !== undefined, want);
  });
}

test("alias: a sub-address is told from a relay's address", () => {
  const alias = (text: string) => aliasOf(addressOf(text), mailAt(undefined));
  assert.equal(alias("joe+news@shop.example"), "sub_address");
  assert.equal(alias("joe@duck.com"), "relay");
  assert.equal(alias("joe+news@addy.io"), "sub_address");
});

const CANONICAL: readonly (readonly [name: string, address: string, want: string])[] = [
  ["case goes", "Joe.Smith@Shop.Example", "joe.smith@shop.example"],
  ["the detail goes", "joe+news+more@shop.example", "joe@shop.example"],
  ["what would end in a dot stays whole", "a.+x@shop.example", "a.+x@shop.example"],
  ["but not where dots go first", "a.+x@gmail.com", "a@gmail.com"],
  ["a leading plus stays", "+news@shop.example", "+news@shop.example"],
  ["dots go at Gmail", "J.o.E+x@GoogleMail.com", "joe@gmail.com"],
  ["dots stay at a sub-domain of Gmail", "j.o.e@x.gmail.com", "j.o.e@x.gmail.com"],
  ["the keyword goes at Yahoo", "joe-news@yahoo.de", "joe@yahoo.de"],
  ["a plus stays at Yahoo", "joe+news@yahoo.de", "joe+news@yahoo.de"],
  ["the keyword goes where the table has a hyphen", "Joe-News@jtan.com", "joe@jtan.com"],
  ["a hyphen elsewhere stays", "jean-luc@shop.example", "jean-luc@shop.example"],
  ["a small sharp s is two in capitals", "stra\u00dfe@shop.example", "strasse@shop.example"],
  ["a capital sharp s", "STRA\u1e9eE@shop.example", "strasse@shop.example"],
  ["a sigma at the end", "\u03c0\u03bf\u03c2@shop.example", "\u03c0\u03bf\u03c3@shop.example"],
  ["sigmas in capitals", "\u03a0\u039f\u03a3@shop.example", "\u03c0\u03bf\u03c3@shop.example"],
  ["a long s", "jo\u017fe@shop.example", "jose@shop.example"],
  ["a dotless i is another letter", "\u0131\u015f@shop.example", "\u0131\u015f@shop.example"],
  ["the sub-domain is the user at Fastmail", "news@joe.fastmail.fm", "joe@fastmail.fm"],
  ["Yandex has one login under all endings", "joe.smith+x@ya.ru", "joe-smith@yandex.ru"],
  ["Yandex elsewhere is somebody else", "joe.smith@yandex.net", "joe.smith@yandex.net"],
  ["quotes that are not needed go", '"Joe+News"@Shop.Example', "joe@shop.example"],
  ["at Gmail, too", '"j.o.e+x"@googlemail.com', "joe@gmail.com"],
  ["escapes that are not needed go", '"j\\o\\e"@shop.example', "joe@shop.example"],
  ["quotes that are needed stay", '"Joe \\Smith+x"@shop.example', '"joe smith"@shop.example'],
  ["and escapes", '"a\\"b\\\\c"@shop.example', '"a\\"b\\\\c"@shop.example'],
  ["nothing in quotes is a mailbox", '""@shop.example', '""@shop.example'],
  ["dots alone stay at Gmail", '"..."@gmail.com', '"..."@gmail.com'],
  ["a decomposed letter is composed", "jo\u0308@shop.example", "j\u00f6@shop.example"],
  ["in quotes, too", '"jo\u0308"@shop.example', "j\u00f6@shop.example"],
  ["dots, hyphens and underscores go at Proton", "J.o_h-n+x@pm.me", "john@proton.me"],
  ["but not before a mark", "_\u0308@pm.me", "_\u0308@proton.me"],
  ["nor between a letter and a mark", "a._\u0308-b@pm.me", "a_\u0308b@proton.me"],
  ["Proton's domains are one", "john@protonmail.com", "john@proton.me"],
  ["Apple's domains are one", "J.ohn+x@mac.com", "j.ohn@icloud.com"],
  ["me.com as well", "john@me.com", "john@icloud.com"],
  ["names under Apple's domains are others", "john@x.me.com", "john@x.me.com"],
  ["U-labels become A-labels", "joe@bücher.example", "joe@xn--bcher-kva.example"],
  ["relays keep their address", "joe.k3jd8@duck.com", "joe.k3jd8@duck.com"],
];

for (const [name, address, want] of CANONICAL) {
  test(`canonical form: ${name}`, () => assert.equal(canonicalAddress(addressOf(address)), want));
}

test("a canonical form is its own canonical form", () => {
  const local = fc.oneof(
    fc.stringMatching(/^[A-Za-z0-9+_-]{1,12}(\.[A-Za-z0-9+_-]{1,12}){0,3}$/),
    fc.stringMatching(/^"(?:[ !#-Z^-~]|\\[ -~]|ö|o\u0308){0,20}"$/),
    fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }),
  );
  const domains = "gmail.com googlemail.com yahoo.co.uk ymail.com joe.fastmail.com a.b.fastmail.fm";
  const domain = fc.constantFrom(
    ...`${domains} pm.me protonmail.ch me.com icloud.com ya.ru yandex.by x.yandex.com outlook.de duck.com bücher.example`.split(
      " ",
    ),
  );
  let checked = 0;
  fc.assert(
    fc.property(local, domain, (left, right) => {
      const parsed = parseAddress(`${left}@${right}`);
      if (!parsed.ok) return;
      const once = canonicalAddress(parsed.value);
      const again = parseAddress(once);
      // A letter that NFC takes apart may take the local part beyond its 64 octets.
      if (!again.ok && Buffer.byteLength(once.slice(0, once.lastIndexOf("@"))) > 64) return;
      assert.ok(again.ok, once);
      assert.equal(canonicalAddress(again.value), once);
      checked += 1;
    }),
    { numRuns: effort(3_000, 20_000) },
  );
  assert.ok(checked > effort(1_500, 10_000), `only ${String(checked)} were addresses`);
});

const BY_RULES: readonly (readonly [address: string, ...canonical: readonly string[]])[] = [
  ["Jo@shop.example", "jo@shop.example", "jo@shop.example", "jo@shop.example"],
  ['"Jo"@shop.example', '"Jo"@shop.example', "jo@shop.example", "jo@shop.example"],
  ["jo@pm.me", "jo@pm.me", "jo@proton.me", "jo@proton.me"],
  ["j.o+x@pm.me", "j.o@pm.me", "jo@proton.me", "jo@proton.me"],
  ["jo@me.com", "jo@me.com", "jo@icloud.com", "jo@icloud.com"],
  ["o\u0308@shop.example", "o\u0308@shop.example", "\u00f6@shop.example", "\u00f6@shop.example"],
  ["a-b@yahoo.com", "a@yahoo.com", "a@yahoo.com", "a@yahoo.com"],
  ["a-b@jtan.com", "a-b@jtan.com", "a-b@jtan.com", "a@jtan.com"],
  ["\u00df@shop.example", "\u00df@shop.example", "\u00df@shop.example", "ss@shop.example"],
];

test("an earlier number of the rules gives what they gave", () => {
  for (const [text, ...want] of BY_RULES) {
    const address = addressOf(text);
    assert.deepEqual(
      [1, 2, MAILBOX_RULES].map((rules) => canonicalAddress(address, rules)),
      want,
      text,
    );
  }
});
