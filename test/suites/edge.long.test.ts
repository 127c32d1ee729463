import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChargeTerms } from "../../src/accounts/admission/charges.ts";
import type { QuotaLimits } from "../../src/accounts/admission/quota-counter.ts";
import { addAccount, openStores, type Stores } from "../contracts/stores.ts";

const ROUNDS = 200;
const PARALLEL = 100;

/** Whole numbers from 0 to `below` - 1, the same on every run (a linear congruential generator). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Attempt = (stores: Stores, owner: string, terms: ChargeTerms) => Promise<boolean>;

const single: Attempt = async ({ counter }, owner, { units, limits, nowMs }) =>
  (await counter.take(owner, units, limits, nowMs)).kind === "taken";

const bulk: Attempt = async ({ charges }, _owner, terms) =>
  (await charges.charge(terms)).kind === "charged";

/** Bulk work refused after its units were held, as when a job is running. */
const droppedBulk: Attempt = async ({ charges }, _owner, terms) => {
  charges.drop(await charges.hold(terms));
  return false;
};

const KINDS: readonly (readonly [string, (pick: (below: number) => number) => Attempt])[] = [
  ["single", () => single],
  ["bulk", () => bulk],
  ["mixed single and bulk", (pick) => (pick(2) === 0 ? single : bulk)],
];

for (const [kind, attemptOf] of KINDS) {
  test(`200 rounds of 100 parallel ${kind} requests grant exactly what fits`, async (t) => {
    const stores = await openStores(t);
    const pick = numbers(20_261_120);
    const nowMs = stores.clock.nowMs();
    for (let round = 0; round < ROUNDS; round += 1) {
      const accountId = await addAccount(stores, 0, `a${String(round)}`);
      const owner = { kind: "account", accountId } as const;
      const left = pick(300);
      const isUniform = pick(2) === 0;
      const size = 1 + pick(7);
      const limits: QuotaLimits =
        pick(2) === 0 ? { daily: left, monthly: null } : { daily: null, monthly: left };
      const sizes = Array.from({ length: PARALLEL }, () => (isUniform ? size : 1 + pick(7)));
      const granted = await Promise.all(
        sizes.map((units) =>
          attemptOf(pick)(stores, `account:${accountId}`, {
            owner,
            units,
            limits,
            purses: "plan",
            nowMs,
          }),
        ),
      );
      const total = sizes.reduce((sum, units, at) => sum + (granted[at] === true ? units : 0), 0);
      assert.ok(total <= left, `round ${String(round)}: ${String(total)} of ${String(left)}`);
      for (const [at, units] of sizes.entries()) {
        if (granted[at] !== true)
          assert.ok(total + units > left, "a refused request would have fitted");
      }
      await stores.counter.flush();
      const [day] = await stores.usage.days(`account:${accountId}`, 0, 99_999);
      assert.equal(day?.units ?? 0, total, "the ledger says the same");
    }
  });
}

test("holds dropped among parallel requests leave no trace", async (t) => {
  const stores = await openStores(t);
  const pick = numbers(3);
  const nowMs = stores.clock.nowMs();
  const limits = { daily: 50, monthly: null };
  for (let round = 0; round < ROUNDS; round += 1) {
    const accountId = await addAccount(stores, 0, `a${String(round)}`);
    const terms: ChargeTerms = {
      owner: { kind: "account", accountId },
      units: 1 + pick(5),
      limits,
      purses: "plan",
      nowMs,
    };
    await Promise.all(
      Array.from({ length: PARALLEL }, () => {
        const attempt = [single, bulk, droppedBulk][pick(3)] ?? single;
        return attempt(stores, `account:${accountId}`, terms);
      }),
    );
    // Held units may have refused others meanwhile, but now all remaining units can be taken.
    let taken = 0;
    while (await single(stores, `account:${accountId}`, { ...terms, units: 1 })) taken += 1;
    await stores.counter.flush();
    const [day] = await stores.usage.days(`account:${accountId}`, 0, 99_999);
    assert.equal(day?.units, 50);
    assert.ok(taken <= 50);
  }
});
