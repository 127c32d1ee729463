import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { anyCharacter } from "../../../test/process/any-character.ts";
import { type EntryMode, entryKey, parseAddress, readEntry } from "./address.ts";
import { effort } from "../../../test/process/effort.ts";

const read = (text: string, mode: EntryMode): string => {
  const entry = readEntry(text, mode);
  if (entry.kind === "malformed") return `${entry.as} ${entry.fault} ${entry.shownDomain}`;
  return `${entry.kind} ${entry.domain.name}`;
};

const cases = [
  ["bulk takes what holds an @ for an address", "either", "a@example.com", "address example.com"],
  ["bulk takes anything else for a domain", "either", "example.com", "domain example.com"],
  ["outer blanks are dropped", "address", " \t a@example.com\r\n", "address example.com"],
  ["a domain may end in one dot", "domain", "example.com.", "domain example.com"],
  ["a domain does not end in two", "domain", "example.com..", "domain domain_idna example.com.."],
  [
    "a domain may end in the dot of its script",
    "domain",
    "例子.公司。",
    "domain xn--fsqu00a.xn--55qx5d",
  ],
  ["but not in two, of any script", "domain", "x.com。.", "domain domain_idna x.com."],
  ["nor does an address", "address", "a@x.com。", "address domain_dot_end x.com"],
  [
    "an address does not end in a dot",
    "address",
    "a@example.com.",
    "address domain_dot_end example.com.",
  ],
  ["an address is not a domain", "domain", "a@example.com", "domain has_at example.com"],
  ["a domain is not an address", "address", "example.com", "address no_at example.com"],
  ["blanks alone are malformed", "address", "   ", "address empty invalid"],
  ["nothing is malformed", "domain", "", "domain empty invalid"],
  [
    "the shown domain keeps only host characters",
    "address",
    "a@ex<b>am/ple.com",
    "address domain_char exbample.com",
  ],
  [
    "the shown domain is lower case",
    "address",
    "a b@EXAMPLE.com",
    "address local_char example.com",
  ],
  ["the shown domain is never blank", "address", "a@ ", "address no_domain invalid"],
  ["the shown domain is what follows the last @", "address", "a@b@c_d", "address local_char cd"],
  [
    "a domain check shows its whole input",
    "domain",
    "http://x.com/y",
    "domain domain_char httpx.comy",
  ],
] as const;

for (const [name, mode, text, want] of cases) {
  test(name, () => {
    assert.equal(read(text, mode), want);
  });
}

test("the shown domain is cut to 253 characters", () => {
  const entry = readEntry(`a@${"b".repeat(5_000)}`, "address");
  assert.ok(entry.kind === "malformed");
  assert.equal(entry.shownDomain.length, 253);
});

test("spellings of one entry share a key, malformed ones only with themselves", () => {
  const key = (text: string): string => entryKey(readEntry(text, "either"), text);
  assert.equal(key("A@Example.COM"), key("a@example.com"));
  assert.equal(key('"A"@example.com'), key("a@example.com"));
  assert.equal(key('"\\a"@example.com'), key("a@example.com"));
  assert.equal(key('"\\a b"@example.com'), key('"A b"@example.com'));
  assert.equal(key("jo\u0308@example.com"), key("j\u00f6@example.com"));
  assert.notEqual(key('"a."@example.com'), key("a@example.com"));
  assert.equal(key("BÜCHER.example"), key("xn--bcher-kva.example."));
  assert.notEqual(key("a@example.com"), key("example.com"));
  assert.notEqual(key("__proto__"), key("__PROTO__"));
});

test("any text has an outcome and a printable domain", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: anyCharacter, maxLength: 60 }), fc.string({ maxLength: 60 })),
      fc.constantFrom<EntryMode>("address", "domain", "either"),
      (text, mode) => {
        const entry = readEntry(text, mode);
        const shown = entry.kind === "malformed" ? entry.shownDomain : entry.domain.name;
        assert.match(shown, /^[a-z0-9.-]{1,253}$/);
      },
    ),
    { numRuns: effort(3_000, 20_000) },
  );
});

test("what an entry's key names reads as the same entry", () => {
  const shaped = fc.string({
    unit: fc.constantFrom(...Array.from('aB1.-@+éß。 "\\\u0308')),
    maxLength: 30,
  });
  fc.assert(
    fc.property(shaped, (text) => {
      const entry = readEntry(text, "either");
      const key = entryKey(entry, text);
      const again = readEntry(key, "either");
      if (entry.kind !== "malformed") assert.equal(again.kind, entry.kind);
      assert.equal(entryKey(again, key), key);
    }),
    { numRuns: effort(3_000, 20_000) },
  );
});

const NORMAL_FORMS: readonly (readonly [what: string, text: string, fault: string | undefined])[] =
  [
    ["a Greek question mark is a semicolon", "me.\u037e@good.test", "local_char"],
    ["a Greek oxia is a backquote", "me.\u1fef@good.test", undefined],
    ["a wide blank", "me\u2000@good.test", "local_unsafe"],
    ["64 octets become 67", `${"a".repeat(61)}\u0958@good.test`, "local_length"],
    ["a composed letter", "j\u00f6@good.test", undefined],
    ["a decomposed letter", "jo\u0308@good.test", undefined],
  ];

for (const [what, text, fault] of NORMAL_FORMS) {
  test(`the normal form of a local part is judged: ${what}`, () => {
    const parsed = parseAddress(text);
    assert.equal(parsed.ok ? undefined : parsed.fault, fault);
  });
}
