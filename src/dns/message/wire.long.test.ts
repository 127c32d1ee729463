import { strict as assert } from "node:assert";
import { test } from "node:test";
import { fuzzDecoder, STEPS_MAX } from "../../../test/dns/dns-fuzz.ts";

test("a million spoilt messages are each decoded or refused in bounded steps", () => {
  const { decoded, refused, mostSteps } = fuzzDecoder(1_000_000, 2);
  assert.ok(decoded > 100_000 && refused > 100_000, `${decoded} decoded, ${refused} refused`);
  assert.ok(mostSteps <= STEPS_MAX, `${mostSteps} steps`);
});
