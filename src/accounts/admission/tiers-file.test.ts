import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DEFAULT_TIERS, readTiers, readTiersFile, tierOf } from "./tiers.ts";

const mistakes = (text: string): readonly string[] => {
  try {
    readTiers(text);
  } catch (fault) {
    const { message } = fault as Error;
    return message.split("\n").map((line) => line.replace(/^GATEPOST_TIERS_FILE: /, ""));
  }
  return [];
};

test("an empty object keeps every default", () => {
  assert.deepEqual(readTiers("{}"), DEFAULT_TIERS);
});

test("what is named changes, and null means no limit", () => {
  const tiers = readTiers(
    '{"anonymous":{"rate_per_minute":5,"daily":0},"pro":{"bulk_limit":null,"monthly":7,"premium":false}}',
  );
  assert.deepEqual(tiers.anonymous, { ...DEFAULT_TIERS.anonymous, ratePerMinute: 5, daily: 0 });
  const pro = { ...DEFAULT_TIERS.pro, bulkLimit: null, monthly: 7, premium: false };
  assert.deepEqual(tiers.pro, pro);
  assert.deepEqual(tiers.free, DEFAULT_TIERS.free);
});

test("one error names all mistakes", () => {
  const text = JSON.stringify({
    anonymous: { rate_per_minute: 0, daily: -1, monthly: 1.5, bulk_limit: "10", premium: "yes" },
    free: [],
    gold: {},
    pro: { Daily: 1, daily: 1e300, premium: null },
  });
  assert.deepEqual(mistakes(text), [
    "anonymous.rate_per_minute: must be null or a whole number of at least 1",
    "anonymous.daily: must be null or a whole number of at least 0",
    "anonymous.monthly: must be null or a whole number of at least 0",
    "anonymous.bulk_limit: must be null or a whole number of at least 1",
    "anonymous.premium: must be true or false",
    "free: must be an object",
    "gold: unknown tier (known: anonymous, free, new_free, starter, pro)",
    "pro.Daily: is not known (known: rate_per_minute, daily, monthly, bulk_limit, watch, premium)",
    "pro.daily: must be null or a whole number of at least 0",
    "pro.premium: must be true or false",
  ]);
});

for (const [name, text, want] of [
  ["text that is not JSON", "{", /^is not JSON/],
  ["an empty file", "", /^is not JSON/],
  ["an array", "[]", /^must be an object of tiers/],
  ["null", "null", /^must be an object of tiers/],
  ["a name from the prototype", '{"__proto__":{}}', /^__proto__: unknown tier/],
  ["a number's name from the prototype", '{"pro":{"toString":1}}', /^pro\.toString: is not known/],
] as const) {
  test(`${name} is a mistake`, () => {
    assert.match(mistakes(text).join("\n"), want);
  });
}

const DAY = 86_400_000;
for (const [name, tier, origin, ageMs, want] of [
  ["a free account by sign-up starts with stricter limits", "free", "signup", 0, "new_free"],
  ["they last 24 hours", "free", "signup", DAY - 1, "new_free"],
  ["and not a moment longer", "free", "signup", DAY, "free"],
  ["the operator's accounts are free of them", "free", "operator", 0, "free"],
  ["another plan is free of them", "pro", "signup", 0, "pro"],
  ["a clock that was set back does not end them", "free", "signup", -DAY, "new_free"],
] as const) {
  test(name, () => {
    assert.equal(tierOf({ tier, origin, createdAtMs: 1_000 }, 1_000 + ageMs), want);
  });
}

test("without a file the table is the default one", () => {
  assert.equal(readTiersFile(undefined), DEFAULT_TIERS);
});

test("every mistake in the file, and a file that cannot be read, is told under the setting's name", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-tiers-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "tiers.json");
  writeFileSync(path, '{"gold": {}, "free": {"daily": -1}}');
  assert.throws(
    () => readTiersFile(path),
    /^Error: GATEPOST_TIERS_FILE: gold.+\nGATEPOST_TIERS_FILE: free.+$/,
  );
  for (const [unread, why] of [
    [join(folder, "none.json"), "there is no such file"],
    [join(path, "below"), "there is no such file"],
    [folder, "it is a directory"],
  ] as const) {
    const message = `GATEPOST_TIERS_FILE: cannot read ${unread}: ${why}`;
    assert.throws(() => readTiersFile(unread), { message });
  }
});
