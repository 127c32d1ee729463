import assert from "node:assert/strict";
import { test } from "node:test";
import { zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { NOW_MS } from "../../../test/process/check-run.ts";
import { RESULT_COLUMNS, resultCells } from "../batch/result-cells.ts";
import { validate } from "./validate.ts";

async function resultOf(text: string) {
  const lookup = zoneLookup({});
  const asked = { features: [], spamTrap: false } as const;
  const { result } = await validate(
    { text, mode: "either", asked, nowMs: NOW_MS, implicitMx: false },
    { datasets: literalDatasets(), lookup, within: () => lookup },
  );
  return result;
}

const CASES: readonly (readonly [name: string, text: string, want: string | undefined])[] = [
  ["an address keeps its local part as written", "Jo.Doe+x@GMIAL.com", "Jo.Doe+x@gmail.com"],
  ["a domain gives the domain alone", "hotmal.com", "hotmail.com"],
  ["letters of another keyboard", "jo@hotmaıl.com", "jo@hotmail.com"],
  ["letters that are read as one", "jo@grnail.com", "jo@gmail.com"],
  ["a letter that looks like another", "jo@gma\u0269l.com", "jo@gmail.com"],
  ["a name that nobody can own has none", "jo@gmail.com.invalid", undefined],
  ["nor at home", "jo@gmail.local", undefined],
  ["a correct provider has none", "jo@gmail.com", undefined],
  ["an unrelated name has none", "jo@shop.example", undefined],
  ["a malformed entry has none", "jo@@gmial..com", undefined],
];

for (const [name, text, want] of CASES) {
  test(`did_you_mean: ${name}`, async () => {
    const result = await resultOf(text);
    assert.equal(result.did_you_mean, want);
    assert.equal(result.signals.includes("typo_domain"), want !== undefined);
    assert.equal(resultCells(result)[RESULT_COLUMNS.indexOf("did_you_mean")], want);
    const keys = Object.keys(result);
    if (want !== undefined) assert.equal(keys.indexOf("did_you_mean"), keys.indexOf("signals") + 1);
  });
}

for (const name of [
  "gmail.com.invalid",
  "yahoo.com.invalid",
  "gmail.com.local",
  "mygmail.localhost",
]) {
  test(`${name} is judged as a special-use name first`, async () => {
    const { disposable, dns, signals } = await resultOf(`jo@${name}`);
    assert.deepEqual([disposable, dns], [false, false]);
    assert.ok(signals.includes("special_use_domain"));
    assert.ok(!signals.includes("lookalike_provider") && !signals.includes("typo_domain"));
  });
}

test("all names of one relay get one answer", async () => {
  for (const name of "spamgourmet.com antichef.net recursor.net neverbox.com".split(" ")) {
    const { disposable, alias, signals } = await resultOf(`jo@${name}`);
    assert.deepEqual([disposable, alias], [false, true], name);
    assert.ok(signals.includes("privacy_relay"), name);
  }
});
