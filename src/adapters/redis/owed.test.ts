import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { Owed } from "./owed.ts";

/** A connection that is away: what comes up and what reaches Redis, in order. */
function away(flush: () => Promise<void>) {
  const done: string[] = [];
  const mends: (() => Promise<void>)[] = [];
  const clock = manualClock();
  const owed = new Owed({
    connection: {
      isUp: false,
      prefix: "gatepost:",
      beforeUp: (mend) => void mends.push(mend),
      afterUp: () => undefined,
      mend: (_script, [key]) => {
        done.push(`void ${String(key)}`);
        return Promise.resolve();
      },
      run: () => Promise.resolve(undefined),
      keys: () => (async function* none() {})(),
      remove: () => Promise.resolve(),
    },
    journal: { flush: () => flush().then(() => void done.push("written")) },
    clock,
    time: () => 0,
  });
  const comeUp = () => Promise.all(mends.map((mend) => mend()));
  return { owed, clock, done, comeUp };
}

const VOIDED = "void gatepost:q:account:ada";

const ledgers = [
  ["takes its units", () => Promise.resolve(), ["written", VOIDED]],
  ["refuses its units", () => Promise.reject(new Error("away")), [VOIDED]],
  ["never answers", () => new Promise<void>(() => undefined), [VOIDED]],
] as const;

for (const [name, flush, expected] of ledgers) {
  test(`a process that comes back to Redis writes what it granted before it voids a counter: the ledger ${name}`, async () => {
    const { owed, clock, done, comeUp } = away(flush);
    owed.add("account:ada");
    const up = comeUp();
    clock.advance(399);
    await turn();
    if (name === "never answers") assert.deepEqual(done, []);
    clock.advance(1);
    clock.advance(0); // what falls due behind the limit
    await up;
    assert.deepEqual(done, expected);
  });
}

test("a process that owes nothing does not wait for its ledger", async () => {
  const { done, comeUp } = away(() => Promise.resolve());
  await comeUp();
  assert.deepEqual(done, []);
});
