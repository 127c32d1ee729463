import { strict as assert } from "node:assert";
import { test } from "node:test";
import { ENDPOINTS, sendHostile } from "../../test/http/hostile-suite.ts";

/** HOSTILE_REQUESTS=100000 sends more. */
const COUNT = Number(process.env["HOSTILE_REQUESTS"] ?? 2_000);

for (const endpoint of ENDPOINTS) {
  test(`${endpoint.join(" ")}: generated requests get a result or a clear refusal`, async () => {
    const statuses = await sendHostile(endpoint, COUNT, 2);
    assert.ok((statuses.get(200) ?? 0) > COUNT / 4, "many of them are checked");
    assert.ok((statuses.get(400) ?? 0) > 0, "some of them are refused");
  });
}
