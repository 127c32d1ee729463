import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, sender } from "../../../test/policy/sender.ts";
import { ask, KNOWN } from "../../../test/policy/asked-decision.ts";
import { gateWorld } from "../../../test/policy/gate-world.ts";

const many = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));

test("a spent rate is decided: no listed address gets in, and nothing more is charged", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { apiKey } = await world.account("jo@shop.example", "free");
  const decide = (email: string) => ask(world, { email }, { "x-api-key": apiKey });
  const all = await Promise.all(
    many(800, (at) => decide(`p${String(at)}@${at % 2 === 0 ? "bad" : "good"}.example`)),
  );
  assert.ok(all.every(({ status }) => status === 200));
  const said = all.map(({ answer }) => `${answer.decision} ${answer.reason}`);
  assert.equal(said.filter((one) => one === "reject disposable").length, 400);
  assert.equal(said.filter((one) => !one.startsWith("reject")).length, 400);
  const beyond = all.filter(({ headers }) => headers["gatepost-notice"] !== undefined);
  assert.equal(beyond.length, 740, "60 a minute are paid");
  for (const { answer, headers } of beyond) {
    assert.equal(answer.complete, false);
    assert.equal(headers["x-ratelimit-remaining"], "0");
    assert.match(
      String(headers["gatepost-notice"]),
      /^Rate limit exceeded\. Try again in \d+ seconds\. Decided without DNS, uncharged\.$/,
    );
  }
});

test("a spent quota is decided, and says so", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { id, apiKey } = await world.account("jo@shop.example");
  await world.store.accounts.setLimits(id, { daily: 1 });
  const decide = (email: string) => ask(world, { email }, { "x-api-key": apiKey });
  assert.equal((await decide("a@good.example")).answer.complete, true);
  const bad = await decide("b@bad.example");
  assert.deepEqual([bad.status, bad.answer.decision], [200, "reject"]);
  const good = await decide("b@good.example");
  assert.deepEqual([good.answer.decision, good.answer.complete], ["accept", false]);
  const notice = String(good.headers["gatepost-notice"]);
  assert.match(notice, /^Daily quota exceeded\. The quota is 1 units a day\. Decided without DNS/);
});

test("a page whose visitor has spent the rate is decided as well", async (t) => {
  const world = await gateWorld(t, KNOWN);
  const { id } = await world.account("jo@shop.example");
  const made = await world.store.keys.create(id, "page", { origins: ["https://shop.example"] });
  const headers = { "x-api-key": made.apiKey, origin: "https://shop.example" };
  for (let at = 0; at < 100; at += 1) {
    const { status, answer } = await ask(world, { email: "jo@bad.example" }, headers);
    assert.deepEqual([status, answer.decision], [200, "reject"]);
    assert.ok(answer.token !== undefined);
  }
});

test("1,500 requests for one victim in 8 s, of which most are beyond the rate: three messages", async (t) => {
  const { said, clock } = await sender(t);
  const all: string[] = [];
  for (let at = 0; at < 75; at += 1) {
    const emails = many(20, (one) => `jo+${String(at * 20 + one)}@gmail.com`);
    all.push(...(await Promise.all(emails.map((email) => said(email)))));
    clock.advance(8_000 / 75);
  }
  assert.deepEqual(counted(all), { "accept ok": 3, "reject too_often": 1_497 });
});

test("the rate is spent before the victim is known: three messages all the same", async (t) => {
  const { said } = await sender(t);
  await Promise.all(many(520, () => said("other@bad.example")));
  const all = await Promise.all(many(50, () => said("jo@firm.example")));
  assert.deepEqual(counted(all), { "accept ok": 3, "reject too_often": 47 });
});

test("a store that does not answer lets three messages out", async (t) => {
  const { world, said } = await sender(t);
  await said("other@firm.example");
  await world.flush();
  await world.store.sql.db.schema.alterTable("traffic").renameTo("away").execute();
  const all: string[] = [];
  for (let at = 0; at < 20; at += 1) all.push(await said("jo@firm.example"));
  assert.deepEqual(counted(all), { "accept ok": 3, "reject too_often": 17 });
});
