import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { inject } from "../../../test/http/inject.ts";
import { ask } from "../../../test/policy/asked-decision.ts";
import { gateWorld, SILENT } from "../../../test/policy/gate-world.ts";
import { givenTime } from "../../../test/time/given-time.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { until } from "../../../test/time/until.ts";
import { DAY_MS } from "../../core/calendar.ts";

const ORIGIN = "https://shop.example";
const MAIL = { mx: ["10 mx.host.example"] };
const ZONE = {
  "mx.host.example": { a: ["198.51.100.1"] },
  "new.example": MAIL,
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_, at) => [`s${String(at)}.new.example`, MAIL] as const),
  ),
};

async function open(t: TestContext) {
  const clock = manualClock();
  const world = await gateWorld(t, { zone: ZONE, clock, known: { curated: ["bad.example"] } });
  const { id, apiKey } = await world.account("jo@shop.example");
  const made = await world.store.keys.create(id, "page", { origins: [ORIGIN] });
  const decide = async (email: string, headers: Record<string, string>) => {
    const { answer } = await ask(world, { email }, headers);
    return answer;
  };
  return {
    ...world,
    clock,
    account: (await world.store.accounts.find(id)) ?? assert.fail(),
    server: (email: string) => decide(email, { "x-api-key": apiKey }),
    page: (email: string) => decide(email, { "x-api-key": made.apiKey, origin: ORIGIN }),
  };
}

const said = ({ decision, reason }: { readonly decision: string; readonly reason: string }) =>
  `${decision} ${reason}`;

test("five calls of a page do not make a company's new domain suspect", async (t) => {
  const { page, server } = await open(t);
  for (let at = 0; at < 9; at += 1) await page(`m${String(at)}@s${String(at)}.new.example`);
  assert.equal(said(await server("jo@new.example")), "accept ok");
});

test("a call of a page does not make a farm's domain known", async (t) => {
  const world = await open(t);
  const { page, server, clock } = world;
  await page("m@new.example");
  await world.flush();
  clock.advance(15 * DAY_MS);
  const farm: string[] = [];
  for (let at = 0; at < 8; at += 1) farm.push(said(await server(`m${String(at)}@new.example`)));
  assert.deepEqual(farm.slice(0, 4), Array<string>(4).fill("accept ok"));
  assert.deepEqual(farm.slice(4), Array<string>(4).fill("review burst"));
});

test("a page reads its own counts, and is told nothing of a review", async (t) => {
  const { page } = await open(t);
  for (let at = 0; at < 4; at += 1) await page(`m${String(at)}@new.example`);
  const fifth = await page("m4@new.example");
  assert.deepEqual([said(fifth), fifth.message], ["review burst", undefined]);
});

test("what is rejected, and what DNS does not confirm, is not counted", async (t) => {
  const { server, policies, account } = await open(t);
  const document = {
    rules: [{ when: { domain_mailboxes: { gte: 2 } }, then: "review", reason: "burst" }],
    else: "accept",
  };
  await policies.save({ account, author: "jo" }, "default", document, "live");
  for (const email of ["a@none.example", "b@none.example"]) {
    assert.equal(said(await server(email)), "accept ok", "the name does not exist");
  }
  const reject = { rules: [], else: "reject" };
  await policies.save({ account, author: "jo" }, "default", reject, "live");
  for (let at = 0; at < 5; at += 1) await server(`m${String(at)}@new.example`);
  await policies.save({ account, author: "jo" }, "default", document, "live");
  assert.equal(said(await server("jo@new.example")), "accept ok");
  assert.equal(said(await server("jane@new.example")), "review burst");
});

test("while DNS is silent a page is told of a listed address at once, at 20 at once", async (t) => {
  const given = givenTime();
  t.after(() => given.stop());
  const world = await gateWorld(t, { lookup: SILENT, known: { curated: ["bad.example"] } });
  const { id } = await world.account("jo@shop.example");
  const made = await world.store.keys.create(id, "page", { origins: [ORIGIN] });
  const { app } = world;
  const headers = { "x-api-key": made.apiKey, origin: ORIGIN };
  const tookMs: number[] = [];
  const decide = async (at: number) => {
    const startedMs = given.nowMs();
    const payload = { email: `jo@n${String(at)}.bad.example`, deadline_ms: 1_000 };
    const asked = { method: "POST", url: "/api/decide", payload, headers };
    const answer = await inject(app, { ...asked, remoteAddress: `198.51.100.${String(at)}` });
    tookMs.push(given.nowMs() - startedMs);
    assert.equal(said(answer.json()), "reject disposable");
  };
  for (let at = 0; at < 120; at += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, one) => decide(at + one)));
  }
  await until(async () => {
    await world.flush();
    const counted = await world.outcomes.ofAccount(id, 0);
    return counted.reduce((all, { count }) => all + count, 0) === 120;
  });
  const median = tookMs.toSorted((a, b) => a - b)[60] ?? 0;
  t.diagnostic(`${median.toFixed(0)} ms (median)`);
  assert.ok(median < 100, "it does not wait for DNS");
});
