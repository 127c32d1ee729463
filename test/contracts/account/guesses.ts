import assert from "node:assert/strict";
import { test } from "node:test";
import type { Guesses } from "../../../src/accounts/guesses.ts";
import type { Make } from "../contract.ts";

const NOW = 1_700_000_000_000;
const HOUR_MS = 3_600_000;

export function guessesContract(name: string, make: Make<Guesses>): void {
  test(`guesses, ${name}: ten are free, then the delay doubles up to 15 minutes`, async (t) => {
    const guesses = await make(t);
    for (let tries = 1; tries < 10; tries += 1) {
      assert.deepEqual(await guesses.take("a", NOW), { isGranted: true, tries, waitMs: 0 });
    }
    let nowMs = NOW;
    const delays = [10, 20, 40, 80, 160, 320, 640, 900, 900, 900];
    for (const [at, seconds] of delays.entries()) {
      const waitMs = seconds * 1_000;
      assert.deepEqual(await guesses.take("a", nowMs), { isGranted: true, tries: 10 + at, waitMs });
      const early = await guesses.take("a", nowMs + waitMs - 1);
      assert.deepEqual(early, { isGranted: false, tries: 10 + at, waitMs: 1 });
      nowMs += waitMs;
    }
    assert.equal((await guesses.take("b", nowMs)).isGranted, true, "others are free");
    const later = await guesses.take("a", nowMs + HOUR_MS);
    assert.deepEqual(later, { isGranted: true, tries: 1, waitMs: 0 });
  });

  test(`guesses, ${name}: of a hundred at once ten are granted`, async (t) => {
    const guesses = await make(t);
    const all = await Promise.all(Array.from({ length: 100 }, () => guesses.take("a", NOW)));
    assert.equal(all.filter(({ isGranted }) => isGranted).length, 10);
  });

  test(`guesses, ${name}: a right one does not count, and old ones are pruned`, async (t) => {
    const guesses = await make(t);
    for (let tries = 0; tries < 20; tries += 1) {
      assert.equal((await guesses.take("a", NOW)).isGranted, true);
      await guesses.giveBack("a");
    }
    for (let tries = 0; tries < 10; tries += 1) await guesses.take("a", NOW);
    assert.equal((await guesses.take("a", NOW)).isGranted, false);
    await guesses.giveBack("a");
    assert.equal((await guesses.take("a", NOW)).isGranted, true);
    assert.equal(await guesses.prune(NOW), 0);
    assert.equal(await guesses.prune(NOW + 1), 1);
  });
}
