import { strict as assert } from "node:assert";
import { test } from "node:test";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { createThrottleLog } from "./throttle-log.ts";

function world() {
  const clock = manualClock();
  const lines: Readonly<Record<string, unknown>>[] = [];
  const log = {
    info: () => undefined,
    warn: (event: string, fields = {}) => void lines.push({ event, ...fields }),
    error: () => undefined,
  };
  const tell = createThrottleLog({ log, clock, hashKey: new Uint8Array(32) });
  const held = (owner: string): void => tell({ resource: "files", owner, used: 3, waiting: 2 });
  return { clock, lines, held };
}

test("an owner that is held back is logged once a minute", () => {
  const { clock, lines, held } = world();
  held("account:a1");
  held("account:a1");
  held("account:b2");
  clock.advance(60_000);
  held("account:a1");
  assert.deepEqual(
    lines.map(({ account }) => account),
    ["a1", "b2", "a1"],
  );
  assert.deepEqual(lines[0], {
    event: "share.owner_held_back",
    resource: "files",
    account: "a1",
    used: 3,
    waiting: 2,
  });
});

test("an address is a hash in the log", () => {
  const { lines, held } = world();
  held("bucket:192.0.2.7");
  assert.doesNotMatch(JSON.stringify(lines), /192\.0\.2\.7/);
  assert.match(String(lines[0]?.["clientHash"]), /^[0-9a-f]{12}$/);
});

test("a flood of owners fills no log: the rest of a minute is counted", () => {
  const { clock, lines, held } = world();
  for (let n = 0; n < 250; n += 1) held(`account:${String(n)}`);
  assert.equal(lines.length, 100);
  clock.advance(60_000);
  held("account:x");
  assert.equal(lines.at(-1)?.["leftOut"], 150);
});
