import assert from "node:assert/strict";
import { test } from "node:test";
import { NOW_MS } from "../../../test/process/check-run.ts";
import { literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { type Zone, zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { type Feature, FEATURES } from "../checks/registry.ts";
import { type Validation, validate } from "./validate.ts";

/** Two unremarkable names, one with an ambiguous word; both registered ten days ago. */
const ZONE: Zone = Object.fromEntries(
  ["junk-shop.example", "shop.example"].map((name) => [
    name,
    { mx: ["10 mx.example"], registered: "2026-11-10T00:00:00Z" },
  ]),
);
const HOST: Zone = { "mx.example": { a: ["192.0.2.1"] } };

function validated(
  text: string,
  features: readonly Feature[],
  zone: Zone = ZONE,
): Promise<Validation> {
  const lookup = zoneLookup({ ...zone, ...HOST });
  const asked = { features, spamTrap: true };
  return validate(
    { text, mode: "either", asked, nowMs: NOW_MS, implicitMx: false },
    { datasets: literalDatasets(), lookup, within: () => lookup },
  );
}

const CASES: readonly [
  name: string,
  text: string,
  features: readonly Feature[],
  signals: readonly string[],
  confidence: number,
][] = [
  [
    "age not asked: an ambiguous word stays below 50",
    "junk-shop.example",
    [],
    ["keyword_weak"],
    35,
  ],
  ["a fresh domain alone stays below 50", "shop.example", ["domain_age"], ["fresh_domain"], 30],
  [
    "a fresh domain with an ambiguous word is disposable",
    "jane@junk-shop.example",
    ["domain_age"],
    ["keyword_weak", "fresh_domain"],
    55,
  ],
  ["the score does not ask for the age by itself", "shop.example", ["deliverability"], [], 0],
];

for (const [name, text, features, signals, confidence] of CASES) {
  test(`premium and verdict: ${name}`, async () => {
    const { result } = await validated(text, features);
    assert.deepEqual([result.signals, result.confidence], [signals, confidence]);
    assert.equal(result.disposable, confidence >= 50);
  });
}

test("an age that could not be obtained changes no verdict and is named", async () => {
  const zone: Zone = { "shop.example": { mx: ["10 mx.example"], unknown: ["registration"] } };
  const { result, unavailable } = await validated("shop.example", ["domain_age"], zone);
  assert.deepEqual([result.signals, result.domain_age], [[], undefined]);
  assert.deepEqual(unavailable, ["domain_age"]);
});

test("premium fields stand behind the core's, in the contract's order", async () => {
  const { result } = await validated("jane@shop.example", FEATURES);
  const keys = Object.keys(result);
  assert.deepEqual(keys.slice(keys.indexOf("alias") + 1), [
    "spam_trap",
    "email_auth",
    "domain_age",
    "deliverability_score",
  ]);
});

test("malformed entries get no premium field", async () => {
  const { result, unavailable } = await validated("not an address@", FEATURES);
  assert.equal("email_auth" in result || "spam_trap" in result, false);
  assert.deepEqual(unavailable, []);
});
