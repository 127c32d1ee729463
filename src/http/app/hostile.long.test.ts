import { strict as assert } from "node:assert";
import { test } from "node:test";
import { ENDPOINTS, sendHostile } from "../../../test/http/hostile-suite.ts";

const COUNT = 100_000;

for (const endpoint of ENDPOINTS) {
  test(`${endpoint.join(" ")}: 100,000 generated requests, none of them a 5xx`, async () => {
    const statuses = await sendHostile(endpoint, COUNT, 20_261_120);
    assert.equal(
      [...statuses.values()].reduce((sum, count) => sum + count, 0),
      COUNT,
    );
  });
}
