import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { anyCharacter } from "../../../test/process/any-character.ts";
import { addressKey, parseAddress, utf8Octets } from "./address.ts";
import { effort } from "../../../test/process/effort.ts";

interface FormatCase {
  readonly input: string;
  readonly format: boolean;
  readonly reason?: string;
}

const file = new URL("../../../../test/fixtures/email-format-cases.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: readonly FormatCase[] };

const outcome = (text: string): string => {
  const parsed = parseAddress(text);
  return parsed.ok ? "valid" : parsed.fault;
};

for (const { input, format, reason } of cases) {
  test(`${JSON.stringify(input)} is ${format ? "valid" : (reason ?? "")}`, () => {
    assert.equal(outcome(input), format ? "valid" : reason);
  });
}

const more = [
  ["a plus and its detail are kept", "a+b@example.com", "valid"],
  ["upper case is an address", "A@EXAMPLE.COM", "valid"],
  ["a U-label domain is an address", "a@bücher.example", "valid"],
  ["an ideographic full stop separates labels (UTS-46)", "a@iana。org", "valid"],
  ["a local part of Chinese letters is an address (RFC 6531)", "用户@example.com", "valid"],
  ["a zero-width joiner in the local part is refused", "a\u200db@example.com", "local_unsafe"],
  ["a right-to-left override is refused", "a\u202eb@example.com", "local_unsafe"],
  ["a no-break space is refused", "a\u00a0b@example.com", "local_unsafe"],
  ["a soft hyphen is refused", "a\u00adb@example.com", "local_unsafe"],
  ["a private-use character is refused", "a\ue000b@example.com", "local_unsafe"],
  [
    "a replacement character is refused: a decoder found none there",
    "a\ufffd@example.com",
    "local_unsafe",
  ],
  ["a quoted replacement character is refused", '"\ufffd"@example.com', "local_unsafe"],
  ["a replacement character in the domain is refused", "a@b\ufffd.example", "domain_idna"],
  ["a quoted blank is legal (RFC 5321 section 4.1.2)", '"a b"@example.com', "valid"],
  ["so is an escaped backslash before a letter beyond ASCII", '"a\\\\\u00f6"@example.com', "valid"],
  ["an escape before such a letter is none", '"a\\\u00f6"@example.com', "quoted"],
  ["a quoted at sign is legal", '"a@b"@example.com', "valid"],
  ["a trailing NUL is refused", "a@example.com\0", "domain_char"],
  ["a line feed between two addresses is refused", "a@example.com\nb@example.com", "local_char"],
  ["a port is refused", "a@example.com:25", "domain_char"],
  ["an underscore in the domain is refused", "a@my_host.example", "domain_char"],
  ["a percent sign routes nowhere but is atext", "a%b@example.com", "valid"],
  ["an entry over the cap is refused unread", `${"a".repeat(2_000)}@example.com`, "length"],
  ["an invalid A-label is refused", "a@xn--a.example", "domain_idna"],
  ["an invalid A-label as top level is refused", "a@example.xn--a", "domain_idna"],
  ["a bare xn-- is refused as a top level", "a@example.xn--", "domain_idna"],
  ["a name of invisible characters alone is refused", "a@\u00ad", "domain_invisible"],
  ["a byte order mark inside is refused", "a\ufeffb@example.com", "local_unsafe"],
  ["a byte order mark in front is refused", "\ufeffa@example.com", "local_unsafe"],
  ["a Hangul filler is refused", "a\u3164@example.com", "local_unsafe"],
  ["a Hangul initial filler is refused", "a\u115f@example.com", "local_unsafe"],
  ["a blank Braille pattern is refused", "a\u2800@example.com", "local_unsafe"],
  ["a combining grapheme joiner is refused", "a\u034fb@example.com", "local_unsafe"],
  ["a variation selector is refused", "\u2764\ufe0f@example.com", "local_unsafe"],
  ["a supplementary variation selector is refused", "a\u{e0100}@example.com", "local_unsafe"],
  ["an unassigned code point is refused", "a\u0378@example.com", "local_unsafe"],
  ["a leading combining mark is refused", "\u0301a@example.com", "local_unsafe"],
  ["a combining mark behind a dot is refused", "a.\u0301b@example.com", "local_unsafe"],
  ["a quoted leading combining mark is refused", '"\u0301a"@example.com', "local_unsafe"],
  ["a combining mark behind a letter is an address", "e\u0301@example.com", "valid"],
  ["an emoji is an address", "\u{1f606}@example.com", "valid"],
  ["a zero-width space in the domain is refused", "a@exam\u200bple.com", "domain_invisible"],
  ["a soft hyphen in the domain is refused", "a@exam\u00adple.com", "domain_invisible"],
  ["a joiner in the domain of other letters is refused", "a@exam\u200dple.com", "domain_invisible"],
  ["a variation selector in the domain is refused", "a@i\u2764\ufe0f.ws", "domain_invisible"],
  ["a Hangul filler in the domain is refused", "a@ex\u3164.com", "domain_invisible"],
  ["a byte order mark behind the at sign is refused", "a@\ufeffexample.com", "domain_invisible"],
  ["a label with a leading combining mark is refused", "a@\u0301x.com", "domain_idna"],
  ["a symbol in the last label is refused", "a@foo.com\u00a9", "tld_shape"],
  ["a symbol in an encoded last label is refused", "a@foo.xn--com-1ea", "tld_shape"],
  ["an emoji in another label is an address", "a@i\u2764.ws", "valid"],
  ["a Chinese top level is an address", "a@\u4f8b\u5b50.\u516c\u53f8", "valid"],
  [
    "a Tamil top level with marks is an address",
    "a@x.\u0b9a\u0bbf\u0b99\u0bcd\u0b95\u0baa\u0bcd\u0baa\u0bc2\u0bb0\u0bcd",
    "valid",
  ],
  ["STD3: a character that maps to ASCII beyond LDH is refused", "a@\u2100.example", "domain_idna"],
] as const;

for (const [name, input, want] of more) {
  test(name, () => {
    assert.equal(outcome(input), want);
  });
}

test("case makes no second entry, and the domain is its A-labels", () => {
  const parsed = parseAddress("Jo.Doe@BÜCHER.example");
  assert.ok(parsed.ok);
  assert.equal(addressKey(parsed.value), "jo.doe@xn--bcher-kva.example");
  assert.equal(parsed.value.localPart, "Jo.Doe");
});

const RUNS = { numRuns: effort(3_000, 20_000) };
const hostile = fc.string({ unit: anyCharacter, maxLength: 80 });
const shaped = fc
  .tuple(
    fc.string({ unit: fc.constantFrom(...Array.from('aA1.+-_"\\ @\0é\u202e😆')), maxLength: 20 }),
    fc.string({ unit: fc.constantFrom(...Array.from("aZ1.-_@ xn\u00ad。ßü[]:")), maxLength: 20 }),
  )
  .map(([left, right]) => `${left}@${right}`);

test("any text has an outcome, and what is accepted is within its limits", () => {
  fc.assert(
    fc.property(fc.oneof(hostile, shaped), (text) => {
      const parsed = parseAddress(text);
      if (!parsed.ok) return;
      assert.ok(utf8Octets(parsed.value.localPart) <= 64);
      assert.ok(utf8Octets(addressKey(parsed.value)) <= 254 + 64);
      assert.match(parsed.value.domain.name, /^[a-z0-9.-]+$/);
    }),
    RUNS,
  );
});

test("the key of an address is itself an address with the same key", () => {
  fc.assert(
    fc.property(shaped, (text) => {
      const parsed = parseAddress(text);
      if (!parsed.ok) return;
      const key = addressKey(parsed.value);
      const again = parseAddress(key);
      assert.ok(again.ok || again.fault === "local_length" || again.fault === "length");
      if (again.ok) assert.equal(addressKey(again.value), key);
    }),
    RUNS,
  );
});

test("octets are counted as UTF-8 writes them", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      assert.equal(utf8Octets(text), Buffer.byteLength(text));
    }),
    { numRuns: effort(2_000, 10_000) },
  );
});
