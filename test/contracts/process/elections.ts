import { strict as assert } from "node:assert";
import { test } from "node:test";
import { CLOCKS_APART_MS, type Elections } from "../../../src/ports/process/elections.ts";
import type { Make } from "../contract.ts";

const LEASE_MS = 30_000;
/** When another candidate may take a duty that was taken at 0. */
const FREE_MS = LEASE_MS + CLOCKS_APART_MS;

/** The contract of every election. `open` opens one new, empty store several times: two machines. */
export function electionsContract(
  name: string,
  open: Make<readonly [Elections, ...(readonly Elections[])]>,
): void {
  type Hold = (candidate: string, nowMs: number, duty?: string) => Promise<boolean>;
  const check = (
    rule: string,
    run: (hold: Hold, resign: (candidate: string) => Promise<void>) => Promise<void>,
  ) =>
    void test(`${name}: ${rule}`, async (t) => {
      const openings = await open(t);
      let turn = 0;
      const next = (): Elections => openings[turn++ % openings.length] ?? openings[0];
      await run(
        (candidate, nowMs, duty = "lists") =>
          next().hold(duty, candidate, { nowMs, leaseMs: LEASE_MS }),
        (candidate) => next().resign("lists", candidate),
      );
    });

  check(
    "the first candidate gets a duty, another does not, and duties are independent",
    async (hold) => {
      assert.equal(await hold("a", 0), true);
      assert.equal(await hold("b", 1), false);
      assert.equal(await hold("b", 1, "learning"), true);
      assert.equal(await hold("a", 2, "learning"), false);
    },
  );

  check("one of many simultaneous candidates is elected", async (hold) => {
    const names = Array.from({ length: 40 }, (_, n) => `c${String(n)}`);
    const first = await Promise.all(names.map((each) => hold(each, 0)));
    assert.equal(first.filter((isElected) => isElected).length, 1);
    const second = await Promise.all(names.map((each) => hold(each, FREE_MS)));
    assert.equal(second.filter((isElected) => isElected).length, 1);
  });

  check("a lease lasts from the last renewal, plus the tolerated clock skew", async (hold) => {
    await hold("a", 0);
    assert.equal(await hold("a", 20_000), true);
    assert.equal(await hold("b", FREE_MS), false);
    assert.equal(await hold("b", 20_000 + FREE_MS - 1), false);
    assert.equal(await hold("b", 20_000 + FREE_MS), true);
  });

  check(
    "a holder that returns late has lost the duty, unless there was no other candidate",
    async (hold) => {
      await hold("a", 0);
      assert.equal(await hold("a", 5 * FREE_MS), true);
      assert.equal(await hold("b", 6 * FREE_MS), true);
      assert.equal(await hold("a", 6 * FREE_MS + 1), false);
    },
  );

  check(
    "a resigning holder frees the duty at once; another's resignation changes nothing",
    async (hold, resign) => {
      await resign("a");
      await hold("a", 0);
      await resign("b");
      assert.equal(await hold("b", 1), false);
      await resign("a");
      assert.equal(await hold("b", 2), true);
      await resign("a");
      assert.equal(await hold("a", 3), false);
    },
  );

  check("a holder keeps its duty when the calendar is set back", async (hold) => {
    await hold("a", 100_000);
    assert.equal(await hold("a", 10_000), true);
    assert.equal(await hold("b", 10_001), false);
    assert.equal(await hold("b", 10_000 + FREE_MS), true);
  });
}
