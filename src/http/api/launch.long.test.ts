import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ask } from "../../../test/policy/asked-decision.ts";
import { honestPeople } from "../../../test/policy/crowd-names.ts";
import { gateWorld } from "../../../test/policy/gate-world.ts";
import { counted } from "../../../test/policy/sender.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { DAY_MS } from "../../core/calendar.ts";

const PEOPLE = 2_000;
const ZONE = {
  "gmail.com": { mx: ["5 mx.good.example"] },
  "outlook.com": { mx: ["5 mx.good.example"] },
  "young.example": { mx: ["5 mx.good.example"] },
  "mx.good.example": { a: ["198.51.100.1"] },
};

async function site(t: TestContext) {
  const clock = manualClock();
  clock.advance(20_000 * DAY_MS);
  const world = await gateWorld(t, { clock, zone: ZONE });
  const account = await world.account("jo@shop.example");
  await world.store.accounts.setLimits(account.id, { ratePerMinute: 100_000 });
  const signUp = async (email: string, ip: string) => {
    const asked = { email, count_by: { ip } };
    const { answer, status } = await ask(world, asked, { "x-api-key": account.apiKey });
    assert.equal(status, 200);
    return answer;
  };
  return { clock, world, account, signUp };
}

/** Everybody is in a network of their own. */
const home = (at: number): string => `198.${String(at >> 8)}.${String(at & 255)}.7`;

test("an honest launch of 2,000 in an hour: none refused, at most 10 reviewed", async (t) => {
  const { clock, signUp } = await site(t);
  const said: string[] = [];
  for (const [at, email] of honestPeople(PEOPLE, 1).entries()) {
    said.push((await signUp(email, home(at))).decision);
    clock.advance(3_600_000 / PEOPLE);
  }
  const { accept = 0, review = 0, ...others } = counted(said);
  assert.deepEqual(others, {});
  assert.ok(review <= PEOPLE * 0.005, String(review));
  assert.equal(accept + review, PEOPLE);
});

test("three farms among 2,000 sign-ups of a day are found, and nobody else", async (t) => {
  const { clock, signUp, world, account } = await site(t);
  await world.store.switches.switchLog(account.id, "on");
  const honest: string[] = [];
  const farms: Record<"domain" | "mailbox" | "network", string[]> = {
    domain: [],
    mailbox: [],
    network: [],
  };
  let net = 0;
  for (const [at, email] of honestPeople(PEOPLE - 180, 7).entries()) {
    honest.push((await signUp(email, home(at))).decision);
    if (at % 30 === 0 && farms.domain.length < 60) {
      const colleague = `p${String(at)}@young.example`;
      farms.domain.push((await signUp(colleague, home(3_000 + at))).decision);
    }
    if (at % 45 === 0 && farms.mailbox.length < 40) {
      const spelling = `one.person+${String(at)}@gmail.com`;
      farms.mailbox.push((await signUp(spelling, home(9_000 + at))).decision);
    }
    if (at % 22 === 0 && farms.network.length < 80) {
      const ip = `203.0.113.${String(farms.network.length % 20)}`;
      const { decision, counts } = await signUp(`far${String(at)}.m@gmail.com`, ip);
      farms.network.push(decision);
      net = counts?.["net"]?.day ?? 0;
    }
    clock.advance(DAY_MS / PEOPLE);
  }
  assert.deepEqual(counted(honest), { accept: PEOPLE - 180 });
  assert.deepEqual(counted(farms.domain), { accept: 4, review: 56 });
  assert.deepEqual(counted(farms.mailbox), { accept: 3, review: 37 });
  // A meetup and a university share a network too: no rule reads "net", the log's groups show it.
  assert.deepEqual(counted(farms.network), { accept: 80 });
  assert.equal(net, 79);
  await world.flush();
  const { domains, mailboxes, sources } = await world.decisionLog.groups(account.id);
  assert.equal(domains.find(({ value }) => value === "young.example")?.count, 60);
  assert.equal(mailboxes[0]?.count, 40);
  assert.equal(sources[0]?.count, 80);
  assert.match(sources[0].value, /^net:/);
});

test("80 sign-ups of one address are reviewed from the 21st on in ten minutes, and seen in the groups of a day", async (t) => {
  const { clock, signUp, world, account } = await site(t);
  await world.store.switches.switchLog(account.id, "on");
  const people = honestPeople(160, 3);
  const said = async (from: number, ip: string, everyMs: number) => {
    const all: string[] = [];
    for (const email of people.slice(from, from + 80)) {
      all.push((await signUp(email, ip)).decision);
      clock.advance(everyMs);
    }
    return counted(all);
  };
  assert.deepEqual(await said(0, "203.0.113.9", 5_000), { accept: 20, review: 60 });
  assert.deepEqual(await said(80, "198.51.100.9", DAY_MS / 81), { accept: 80 });
  await world.flush();
  const { sources } = await world.decisionLog.groups(account.id);
  assert.equal(sources.find(({ value }) => value.startsWith("ip:"))?.count, 80);
});
