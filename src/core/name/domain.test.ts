import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import {
  isAtOrUnder,
  isHostName,
  isMailHost,
  isSpecialUse,
  parseDomain,
  registrableOf,
  selfAndParents,
} from "./domain.ts";
import { anyCharacter } from "../../../test/process/any-character.ts";
import { effort } from "../../../test/process/effort.ts";

const read = (text: string): string => {
  const parsed = parseDomain(text);
  return parsed.ok ? parsed.value.name : parsed.fault;
};

const names = [
  ["lower case is kept", "example.com", "example.com"],
  ["upper case is lowered", "EXAMPLE.Com", "example.com"],
  ["a U-label becomes its A-label", "bücher.example", "xn--bcher-kva.example"],
  ["sharp s stays itself (UTS-46 non-transitional)", "faß.de", "xn--fa-hia.de"],
  ["an A-label stays itself", "xn--bcher-kva.example", "xn--bcher-kva.example"],
  ["an upper-case A-label is lowered", "XN--BCHER-KVA.example", "xn--bcher-kva.example"],
  ["a full-width name is mapped", "ｅｘａｍｐｌｅ.com", "example.com"],
  ["a digit-led label is fine (RFC 1123 section 2.1)", "3com.com", "3com.com"],
  ["an A-label may be the last label", "example.xn--p1ai", "example.xn--p1ai"],
  [
    "a non-joiner between letters that join (RFC 5892 appendix A.1)",
    "نامه\u200cای.com",
    "xn--mgba3gch31f060k.com",
  ],
  ["its A-label stays itself", "xn--mgba3gch31f060k.com", "xn--mgba3gch31f060k.com"],
  ["a joiner behind a virama (appendix A.2)", "ශ්\u200dරී.ලංකා", "xn--10cl1a0b660p.xn--fzc2c9e2c"],
  [
    "its A-labels stay themselves",
    "xn--10cl1a0b660p.xn--fzc2c9e2c",
    "xn--10cl1a0b660p.xn--fzc2c9e2c",
  ],
  ["a joiner elsewhere is refused", "exam\u200dple.com", "domain_invisible"],
  ["a non-joiner elsewhere is refused", "نامه.a\u200cb.com", "domain_invisible"],
  ["a non-joiner at the end of a label is refused", "نامه\u200c.com", "domain_invisible"],
  ["two joiners are refused", "ශ්\u200d\u200dරී.ලංකා", "domain_invisible"],
  ["an empty text is refused", "", "empty"],
  ["a dotless name is refused", "localhost", "dotless"],
  ["an IPv4 address is refused", "192.0.2.1", "tld_shape"],
  ["a hexadecimal address is refused, not repaired", "0x7f.1", "tld_shape"],
  ["a URL is refused", "https://example.com", "domain_char"],
  ["a path is refused, not repaired", "iana.org/foo", "domain_char"],
  ["a port is refused", "example.com:80", "domain_char"],
  ["an underscore is refused", "_dmarc.example.com", "domain_char"],
  ["a blank is refused", "exam ple.com", "domain_char"],
  ["an IPv6 address is refused", "2001:db8::1", "domain_char"],
  ["an empty label is refused", "a..example", "domain_idna"],
  ["a label of 64 is refused", `${"a".repeat(64)}.example`, "domain_idna"],
  ["a label of 63 is fine", `${"a".repeat(63)}.example`, `${"a".repeat(63)}.example`],
  ["a last dot is the entry reader's business", "example.com.", "domain_dot_end"],
  ["two last dots are an empty label", "example.com..", "domain_idna"],
  ["a leading hyphen is refused", "-a.example", "label_chars"],
  ["a trailing hyphen is refused", "a-.example", "label_chars"],
  ["a hyphen leads no U-label (RFC 5891 section 4.2.3.1)", "-ü.example", "domain_idna"],
  ["a hyphen ends no U-label", "ü-.example", "domain_idna"],
  ["nor in the disguise of an A-label", "xn----eha.example", "domain_idna"],
  ["two hyphens in the third and fourth place of a U-label", "ab--ü.example", "domain_idna"],
  ["inner hyphens in a U-label", "a-ü-b.example", "xn--a--b-1ra.example"],
  ["two hyphens there in plain ASCII", "r3---ü.r3---x.example", "domain_idna"],
  ["a plain label with them beside a U-label", "ü.r3---x.example", "xn--tda.r3---x.example"],
  ["a one-letter last label is refused", "example.c", "tld_shape"],
  ["a number as last label is refused", "example.123", "tld_shape"],
  [
    "mixed scripts within a right-to-left name are refused (RFC 5893)",
    "א1a.example",
    "domain_idna",
  ],
] as const;

for (const [name, input, want] of names) {
  test(name, () => {
    assert.equal(read(input), want);
  });
}

const places = [
  ["a registrable domain", "example.com", "com", "example.com", "example.com"],
  ["a name under it", "a.b.example.co.uk", "co.uk", "example.co.uk", "example.co.uk"],
  ["a public suffix", "co.uk", "co.uk", undefined, undefined],
  ["a private suffix", "github.io", "io", "github.io", undefined],
  ["a name under a private suffix", "a.shop.github.io", "io", "github.io", "shop.github.io"],
  ["a top level no list knows", "a.b.nosuchtld", "nosuchtld", "b.nosuchtld", "b.nosuchtld"],
] as const;

for (const [name, input, suffix, registrable, whole] of places) {
  test(`${name} has its place in the public suffix list`, () => {
    const parsed = parseDomain(input);
    assert.ok(parsed.ok);
    assert.equal(parsed.value.publicSuffix, suffix);
    assert.equal(parsed.value.registrableDomain, registrable);
    assert.equal(parsed.value.privateRegistrableDomain, whole);
    assert.equal(registrableOf(input), whole);
  });
}

const special = [
  ["a.localhost", true],
  ["x.invalid", true],
  ["printer.local", true],
  ["abc.onion", true],
  ["host.internal", true],
  ["router.home.arpa", true],
  ["1.10.in-addr.arpa", true],
  ["a.test", false],
  ["a.example", false],
  ["example.com", false],
  ["notlocal.com", false],
  ["mylocalhost.net", false],
] as const;

for (const [name, want] of special) {
  test(`${name} is ${want ? "" : "not "}kept from DNS (RFC 6761)`, () => {
    assert.equal(isSpecialUse(name), want);
  });
}

const hosts = [
  ["mx.example.com", true],
  ["192.0.2.1", false],
  ["mail_host.example.com", false],
  ["mx", false],
  ["", false],
  ["mx.example.com.", false],
  ["MX.example.com\0", false],
] as const;

for (const [host, want] of hosts) {
  test(`${JSON.stringify(host)} is ${want ? "a" : "no"} host name`, () => {
    assert.equal(isHostName(host), want);
  });
}

const LABEL = "a".repeat(63);
const mailHosts = [
  ["_dc-mx.0a1b2c3d4e5f.example.com", true],
  ["mail_1.example.com", true],
  ["-mx-.example.com", true],
  ["mx", true],
  ["xn--a.example.com", true],
  ["a/b:c*.example.com", true],
  ["m\\195\\164il.a\\046b.example.com", true],
  [`${LABEL}.${LABEL}.${LABEL}.${"a".repeat(61)}`, true],
  [`${LABEL}.${LABEL}.${LABEL}.${"a".repeat(62)}`, false],
  [`a${LABEL}.example.com`, false],
  ["a\\032b.example.com", false],
  ["a\\000.example.com", false],
  ["a\\127.example.com", false],
  ["a\\256.example.com", false],
  ["a b.example.com", false],
  ["a\tb.example.com", false],
  ["192.0.2.1", false],
  ["1.2.3", false],
  ["[192.0.2.1]", false],
  ["2001:db8::1", false],
  ["", false],
  [".example.com", false],
  ["a..example.com", false],
  ["mx.example.com.", false],
  ["MX.example.com", false],
] as const;

for (const [host, want] of mailHosts) {
  test(`${JSON.stringify(host)} is ${want ? "a" : "no"} mail server's name`, () => {
    assert.equal(isMailHost(host), want);
  });
}

test("parents end at the name given as the top", () => {
  assert.deepEqual(
    [...selfAndParents("a.b.example.com", "example.com")],
    ["a.b.example.com", "b.example.com", "example.com"],
  );
  assert.deepEqual([...selfAndParents("example.com", "example.com")], ["example.com"]);
  assert.deepEqual([...selfAndParents("com", undefined)], ["com"]);
  assert.deepEqual([...selfAndParents("badexample.com", "example.com")], ["badexample.com"]);
});

test("a suffix matches on label boundaries only", () => {
  assert.ok(isAtOrUnder("a.example.com", "example.com"));
  assert.ok(isAtOrUnder("example.com", "example.com"));
  assert.ok(!isAtOrUnder("badexample.com", "example.com"));
  assert.ok(!isAtOrUnder("com", "example.com"));
});

const RUNS = { numRuns: effort(3_000, 20_000) };
const shaped = fc.string({
  unit: fc.constantFrom(...Array.from("aB1.-_xn--é。ß\u00ad\u200d😆א/:@ \0")),
  maxLength: 40,
});

test("any text has an outcome, and a name that was read reads as itself", () => {
  fc.assert(
    fc.property(fc.oneof(shaped, fc.string({ unit: anyCharacter, maxLength: 60 })), (text) => {
      const parsed = parseDomain(text);
      if (!parsed.ok) return;
      const { name } = parsed.value;
      assert.match(name, /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/);
      assert.ok(name.length <= 253);
      assert.equal(read(name), name);
      assert.ok(isHostName(name));
      assert.ok(isMailHost(name));
    }),
    RUNS,
  );
});
