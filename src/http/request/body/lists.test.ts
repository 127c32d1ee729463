import { strict as assert } from "node:assert";
import { test } from "node:test";
import { bulkText } from "../bulk-text.ts";
import { readLists, decodedList, refusable } from "./lists.ts";
import { inSlices } from "./slices.ts";

const cases = [
  ["lines", "user+tag@example.com%0A".repeat(20_000)],
  ["commas and pluses", "a+b%40x.example,c@d+e@f,".repeat(20_000)],
  ["characters of three octets", "%E4%BD%A0@例.example%0D%0A".repeat(15_000)],
  ["one entry without a separator", "a".repeat(500_000)],
  ["one entry of escaped characters", "%E4%BD%A0".repeat(60_000)],
  ["one entry of escaped octets that are not a character", "%BF".repeat(200_000)],
  ["pluses without a separator", "+".repeat(300_000)],
  ["characters of four octets, not escaped", "\u{1f600}".repeat(100_000)],
  ["stray percent signs", "%4%zz%".repeat(80_000)],
] as const;

for (const [name, raw] of cases) {
  test(`a list decodes in slices to the same text as at once: ${name}`, async () => {
    assert.equal(await inSlices(decodedList(raw)), bulkText(raw));
  });
}

test("a large form keeps a long list as text and the other parameters as they stand", async () => {
  const list = "a@b.example%0A".repeat(10_000);
  const text = `json=1&email=${list}&email[]=c@d.example&features=spf&other=${list}`;
  const body = await readLists(text, new Set(["email", "json", "features"]));
  assert.equal(body.kind, "fields");
  if (body.kind !== "fields") return;
  assert.equal(body.texts.get("email"), bulkText(`${list}%0Ac@d.example`));
  assert.deepEqual([...body.fields.keys()].toSorted(), ["email", "features", "json"]);
});

const MAX = 2_000_000;

/** Name, list and what is left of it. */
const long: readonly (readonly [string, string, string])[] = [
  ["one that may be a list stays", "a,".repeat(MAX / 2), "a,".repeat(MAX / 2)],
  ["one octet more is too long", `${"a".repeat(MAX)}b`, "a".repeat(MAX + 1)],
  ["one without an entry stays one", " ".repeat(3 * MAX), `,${" ".repeat(MAX)}`],
  ["an entry behind blanks is kept", `${" ".repeat(MAX)}x,`, `x${" ".repeat(MAX)}`],
];

for (const [name, list, left] of long) {
  test(`of a list that is too long: ${name}`, () => assert.ok(refusable(list) === left));
}

test("the first value of a parameter stays whole for a single check, however long it is", async () => {
  const sent = `a${"+".repeat(5_000_000)}@x.example`;
  const body = await readLists(`email=${sent}`, new Set(["email"]));
  assert.equal(body.kind, "fields");
  assert.deepEqual(body.kind === "fields" && body.fields.get("email"), [sent]);
});
