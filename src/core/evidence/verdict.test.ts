import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { type Evidence, evidence, type Signal, SIGNALS } from "./signals.ts";
import { weigh, excuse } from "./domain-evidence.ts";
import { effort } from "../../../test/process/effort.ts";

const all = Object.keys(SIGNALS) as Signal[];

const cases: readonly (readonly [string, readonly Evidence[], number, boolean])[] = [
  ["nothing found is 0", [], 0, false],
  ["a curated hit is 100", [evidence("blacklist_exact")], 100, true],
  ["a listed parent is 95", [evidence("blacklist_parent")], 95, true],
  ["no mail server alone is 10", [evidence("no_mx_records")], 10, false],
  ["a fresh domain alone is 30", [evidence("fresh_domain")], 30, false],
  ["an ambiguous word alone is 35", [evidence("keyword_weak")], 35, false],
  [
    "a fresh domain with an ambiguous word is 55 and crosses the line",
    [evidence("fresh_domain"), evidence("keyword_weak")],
    55,
    true,
  ],
  [
    "a single list with a large provider's mail is 40",
    [{ signal: "blacklist_single", weight: 0.4 }],
    40,
    false,
  ],
  [
    "a strong word without a mail server is 91",
    [evidence("keyword_match"), evidence("no_mx_records")],
    91,
    true,
  ],
  ["an inconclusive DNS says nothing", [evidence("dns_indeterminate")], 0, false],
];

for (const [name, pieces, confidence, disposable] of cases) {
  test(name, () => {
    const verdict = weigh(pieces);
    assert.equal(verdict.confidence, confidence);
    assert.equal(verdict.disposable, disposable);
  });
}

test("the strongest comes first, and of one signal the stronger piece stays", () => {
  const verdict = weigh([
    evidence("plus_alias"),
    { signal: "disposable_account", weight: 0.85 },
    evidence("no_mx_records"),
    { signal: "disposable_account", weight: 1 },
  ]);
  assert.deepEqual(
    verdict.evidence.map(({ signal, weight }) => `${signal} ${String(weight)}`),
    ["disposable_account 1", "no_mx_records 0.1", "plus_alias 0"],
  );
});

test("a known-good domain is excused of what speaks against the domain, not against the address", () => {
  const left = excuse(all.map((signal) => evidence(signal)));
  assert.deepEqual(
    left.filter(({ weight }) => weight > 0).map(({ signal }) => signal),
    ["disposable_account", "dot_scatter"],
  );
  assert.ok(left.some(({ signal }) => signal === "no_mx_records"));
});

test("any evidence gives a whole confidence, and more evidence never a lower one", () => {
  const pieces = fc.array(fc.constantFrom(...all).map((signal) => evidence(signal)));
  fc.assert(
    fc.property(pieces, fc.constantFrom(...all), (some, one) => {
      const before = weigh(some);
      const after = weigh([...some, evidence(one)]);
      assert.ok(Number.isInteger(before.confidence));
      assert.ok(before.confidence >= 0 && before.confidence <= 100);
      assert.equal(before.disposable, before.confidence >= 50);
      assert.ok(after.confidence >= before.confidence);
      assert.ok(before.evidence.length <= 20);
    }),
    { numRuns: effort(3_000, 20_000) },
  );
});
