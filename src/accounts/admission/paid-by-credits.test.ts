import assert from "node:assert/strict";
import { test } from "node:test";
import { addAccount } from "../../../test/contracts/stores.ts";
import { dayOf } from "../../core/calendar.ts";
import {
  withKey,
  type World,
  tiersWith,
  openWorld,
  RATE,
  DAILY,
} from "../../../test/process/admission-world.ts";

const balance = async ({ accounts }: World) => (await accounts.find("a1"))?.creditBalance;

test("a spent rate is paid by credits, and without units by one", async (t) => {
  const world = await openWorld(t, tiersWith("free", { ratePerMinute: 1 }));
  await addAccount(world, 3);
  const credentials = withKey(await world.newKey());
  assert.equal(await world.check(credentials), "plan");
  const beyond = await world.enter(credentials);
  assert.equal(beyond.refusal, undefined);
  RATE(60)(beyond.creditsOnly);
  assert.equal((await world.admission.charge(beyond, 0)).paidBy, "credits");
  assert.equal(await balance(world), 2);
  await assert.rejects(async () => world.admission.charge(beyond, 3), RATE(60));
  assert.equal((await world.admission.charge(beyond, 2)).paidBy, "credits");
  assert.equal(await balance(world), 0);
  world.clock.advance(5_000);
  RATE(55)((await world.enter(credentials)).refusal);
  await world.counter.flush();
  const used = await world.usage.unitsUsed("account:a1", dayOf(world.clock.nowMs()));
  assert.equal(used.inDay, 1, "credits leave the plan alone");
});

test("a spent quota is paid by credits, and the request's rate is given back", async (t) => {
  const world = await openWorld(t, tiersWith("free", { daily: 1, ratePerMinute: 2 }));
  await addAccount(world, 2);
  const credentials = withKey(await world.newKey());
  const paid = [];
  for (let call = 0; call < 3; call += 1) paid.push(await world.check(credentials));
  assert.deepEqual(paid, ["plan", "credits", "credits"]);
  await assert.rejects(world.check(credentials), DAILY);
  assert.equal(await balance(world), 0);
});

test("a receipt is refunded once, to the purse it came from", async (t) => {
  const world = await openWorld(t, tiersWith("free", { daily: 1 }));
  await addAccount(world, 5);
  const admitted = await world.enter(withKey(await world.newKey()));
  const byPlan = await world.admission.charge(admitted, 1);
  const byCredits = await world.admission.charge(admitted, 5);
  for (const receipt of [byCredits, byCredits, byPlan, byPlan]) await receipt.refund();
  assert.equal(await balance(world), 5);
  assert.equal((await world.admission.charge(admitted, 1)).paidBy, "plan");
  assert.equal((await world.admission.charge(admitted, 1)).paidBy, "credits");
});

test("credits granted meanwhile can be spent within 5 s", async (t) => {
  const world = await openWorld(t, tiersWith("free", { daily: 0 }));
  await addAccount(world);
  const credentials = withKey(await world.newKey());
  await assert.rejects(world.check(credentials), DAILY);
  await world.credits.grant("a1", 1, "");
  world.clock.advance(5_000);
  assert.equal(await world.check(credentials), "credits");
});

test("a bulk request is charged by its store and settled here", async (t) => {
  const world = await openWorld(t, tiersWith("free", { daily: 10, ratePerMinute: 2 }));
  await addAccount(world, 20);
  const credentials = withKey(await world.newKey());
  const paid = [];
  for (const units of [10, 15]) {
    const admitted = await world.enter(credentials);
    const answer = await world.charges.charge(world.admission.terms(admitted, units));
    paid.push((await world.admission.receipt(admitted, answer)).paidBy);
  }
  assert.deepEqual(paid, ["plan", "credits"]);
  const last = await world.enter(credentials);
  assert.deepEqual(last.rate, { limit: 2, remaining: 0 });
  const unpaid = await world.charges.charge(world.admission.terms(last, 6));
  await assert.rejects(async () => world.admission.receipt(last, unpaid), DAILY);
});
