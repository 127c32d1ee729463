import { strict as assert } from "node:assert";
import { test } from "node:test";
import { ENDPOINTS, sendHostile } from "../../test/http/hostile-suite.ts";

/** HOSTILE_REQUESTS=100000 sends more. */
const COUNT = Number(process.env["HOSTILE_REQUESTS"] ?? 5_000);

for (const endpoint of ENDPOINTS) {
  test(`${endpoint.join(" ")}: ${String(COUNT)} generated requests, none of them a 5xx`, async () => {
    const statuses = await sendHostile(endpoint, COUNT, 20_261_120);
    assert.equal(
      [...statuses.values()].reduce((sum, count) => sum + count, 0),
      COUNT,
    );
  });
}
