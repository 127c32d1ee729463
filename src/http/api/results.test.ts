import { strict as assert } from "node:assert";
import { test } from "node:test";
import { csvCells, resultCells } from "../../core/batch/result-cells.ts";
import type { FullResult } from "../../core/validate/result.ts";
import { resultCsv } from "./results.ts";

const plain = {
  format: true,
  domain: "a.example",
  disposable: false,
  dns: true,
  confidence: 0,
  whitelist: false,
  signals: ["no_mx_records", "implicit_mx"],
  domain_info: { tld: "example", is_subdomain: false, parent_domain: null },
  mx_info: ["mx.example"],
  role: false,
  free: false,
} as unknown as FullResult;

const rows: readonly (readonly [string, FullResult])[] = [
  ["a result", plain],
  ["the same of another domain", { ...plain, domain: "b.example" }],
  ["another verdict", { ...plain, disposable: true, confidence: 90 }],
  ["a suggestion that needs quotes", { ...plain, did_you_mean: 'a"b,c@example.com' }],
  [
    "the same suggestion of another domain",
    { ...plain, domain: "c.example", did_you_mean: 'a"b,c@example.com' },
  ],
  ["a domain that needs care", { ...plain, domain: "=a,b" }],
  ["a domain with a quote", { ...plain, domain: 'a"b' }],
  ["a domain with a backslash", { ...plain, domain: "a\\b" }],
  ["a malformed entry", { ...plain, format: false, domain: "" }],
];

test("cells from JSON are those of the result, whatever was read before", () => {
  const cellsOf = resultCsv();
  for (const round of [1, 2]) {
    for (const [name, result] of rows) {
      const want = csvCells(resultCells(result));
      assert.equal(cellsOf(JSON.stringify(result)), want, `${name}, round ${String(round)}`);
    }
  }
});

test("results beyond those that are kept are read too", () => {
  const cellsOf = resultCsv();
  for (let confidence = 0; confidence < 1_000; confidence += 1) {
    const result = { ...plain, confidence };
    assert.equal(cellsOf(JSON.stringify(result)), csvCells(resultCells(result)));
  }
});
