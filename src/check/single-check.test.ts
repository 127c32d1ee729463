import { strict as assert } from "node:assert";
import { test } from "node:test";
import { literalDatasets } from "../../test/lists/literal-datasets.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { type Zone, zoneLookup } from "../../test/dns/zone-lookup.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import { createSingleCheck } from "./single-check.ts";

const NOTHING = { features: [], spamTrap: false };

function checker(lookup: Lookup, clock = manualClock()): ReturnType<typeof createSingleCheck> {
  const datasets = literalDatasets({});
  return createSingleCheck({ lookup, clock, implicitMx: false, datasets: () => datasets });
}

const zone: Zone = { "d.example": { mx: ["10 mx.example"] }, "mx.example": { a: ["192.0.2.1"] } };

test("a silent DNS ends in dns_indeterminate when the core budget is spent", async () => {
  const clock = manualClock();
  const silent: Lookup = { ...zoneLookup({}), mx: () => new Promise(() => undefined) };
  const answer = checker(silent, clock)("a@d.example", "address", NOTHING);
  clock.advance(5_000);
  const { result, expiresAtMs } = await answer;
  assert.deepEqual(result.signals, ["dns_indeterminate"]);
  assert.equal(result.dns, false);
  assert.equal(expiresAtMs, 0, "nothing inconclusive is kept");
});

test("mail hosts whose addresses never come leave dns true", async () => {
  const clock = manualClock();
  const lookup: Lookup = { ...zoneLookup(zone), addresses: () => new Promise(() => undefined) };
  const answer = checker(lookup, clock)("a@d.example", "address", NOTHING);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(5_000);
  assert.equal((await answer).result.dns, true);
});

test("a malformed entry may be kept forever, because no DNS answer is behind it", async () => {
  const { expiresAtMs } = await checker(zoneLookup({}))("nonsense", "address", NOTHING);
  assert.equal(expiresAtMs, Infinity);
});

test("the same input gives the same answer on repeated calls", async () => {
  const check = checker(zoneLookup(zone));
  const first = await check("A@d.example", "address", NOTHING);
  const second = await check("A@d.example", "address", NOTHING);
  assert.deepEqual(first.result, second.result);
});
