import { strict as assert } from "node:assert";
import { test } from "node:test";
import { zoneLookup } from "../../test/dns/zone-lookup.ts";
import { literalDatasets } from "../../test/lists/literal-datasets.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { createSingleCheck } from "./single-check.ts";
import { createFrontPage } from "./front-page.ts";

const mail = (name: string) => ({ [name]: { mx: ["10 mx.example"] } });
const WHOLE = {
  ...mail("mailinator.com"),
  ...mail("iana.org"),
  "mx.example": { a: ["203.0.113.5"] },
};

function world(zone: Parameters<typeof zoneLookup>[0]) {
  const clock = manualClock();
  const datasets = literalDatasets({ curated: ["mailinator.com"] });
  const lookup = zoneLookup(zone);
  let checks = 0;
  const check = createSingleCheck({ lookup, datasets: () => datasets, clock, implicitMx: false });
  const page = createFrontPage({
    check: (...asked) => {
      checks += 1;
      return check(...asked);
    },
    datasets: () => datasets,
    refresh: { status: () => Promise.resolve([]) },
    clock,
  });
  return { clock, page, checks: () => checks };
}

test("the front page shows three examples and checks them once in 10 minutes", async () => {
  const { clock, page, checks } = world(WHOLE);
  const first = await page();
  assert.deepEqual(
    first.examples.map(({ entry }) => entry),
    ["someone@mailinator.com", "maria@gmail.con", "info@iana.org"],
  );
  assert.equal(first.examples[0]?.step.evidence[0]?.signal, "blacklist_exact");
  assert.equal(await page(), first);
  assert.equal(checks(), 3);
  clock.advance(600_000);
  await page();
  assert.equal(checks(), 6);
});

test("an example that is no longer true is left out and tried again soon", async () => {
  const { clock, page, checks } = world({ ...WHOLE, "iana.org": { unknown: true } });
  const names = (await page()).examples.map(({ entry }) => entry);
  assert.deepEqual(names, ["someone@mailinator.com", "maria@gmail.con"]);
  clock.advance(15_000);
  await page();
  assert.equal(checks(), 6);
});
