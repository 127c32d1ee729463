import assert from "node:assert/strict";
import { test } from "node:test";
import { zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { sharedLookup } from "./run.ts";

const LONG = `${`${"a".repeat(60)}.`.repeat(4)}example`;

const CASES: readonly [name: string, asked: string, reaches: boolean][] = [
  ["a usual name", "_spf.shop.example", true],
  ["a label of 63 octets", `${"a".repeat(63)}.example`, true],
  ["a name of 251 octets", LONG, true],
  ["a label of 64 octets", `${"a".repeat(64)}.example`, false],
  ["a name beyond 253 octets", `_dmarc.${LONG}`, false],
  ["a name with an empty label", "a..example", false],
  ["a name that begins with a dot", ".example", false],
  ["a name that ends in a dot", "shop.example.", false],
  ["the root", "", false],
  ["a blank", "my shop.example", false],
  ["a control character", "shop\u0000.example", false],
  ["a special-use name (RFC 6761)", "printer.local", false],
];

for (const [name, asked, reaches] of CASES) {
  test(`shared lookup: ${name} is ${reaches ? "asked" : "absent unasked"}`, async () => {
    const lookup = zoneLookup({});
    const count = { asked: 0 };
    const answer = await sharedLookup(lookup, count).txt(asked);
    assert.deepEqual(answer, { kind: "absent", why: "noName" });
    assert.deepEqual([lookup.asked.length, count.asked], reaches ? [1, 1] : [0, 0]);
  });
}

test("a question is asked once, and counted as on the wire", async () => {
  const lookup = zoneLookup({});
  const count = { asked: 0 };
  const shared = sharedLookup(lookup, count);
  for (const type of ["mx", "txt", "addresses", "registration"] as const) {
    await Promise.all([shared[type]("shop.example"), shared[type]("shop.example")]);
  }
  assert.equal(lookup.asked.length, 4);
  assert.equal(count.asked, 1 + 1 + 2 + 0);
});

const JUNK = "a".repeat(250);
const SPF = "v=spf1 -all";
const long = (tag: string): string => `${tag}=${"a".repeat(9_000)}`;

const TEXTS: readonly [name: string, texts: readonly string[], kept: readonly string[] | string][] =
  [
    ["few texts are kept as they are", [JUNK, SPF], [JUNK, SPF]],
    ["of many only those with tags", [...Array<string>(100).fill(JUNK), SPF], [SPF]],
    ["of many verification texts none", [...Array<string>(100).fill(`MS=${JUNK}`), SPF], [SPF]],
    ["two long ones with tags are kept", [long("v"), long("p"), JUNK], [long("v"), long("p")]],
    ["three of more than 16 KiB could not be told", [long("v"), long("p"), long("k")], "malformed"],
  ];

for (const [name, texts, kept] of TEXTS) {
  test(`shared lookup: ${name}`, async () => {
    const lookup = zoneLookup({ "shop.example": { txt: texts } });
    const answer = await sharedLookup(lookup, { asked: 0 }).txt("shop.example");
    const told = answer.kind === "found" ? answer.records : "why" in answer && answer.why;
    assert.deepEqual(told, kept);
  });
}
