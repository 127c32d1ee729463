import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ask } from "../../../test/policy/asked-decision.ts";
import { type GateWorld, gateWorld } from "../../../test/policy/gate-world.ts";
import type { Zone } from "../../../test/dns/zone-lookup.ts";
import { type ManualClock, manualClock } from "../../../test/time/manual-clock.ts";
import { DAY_MS } from "../../core/calendar.ts";
import { DEFAULT_DOCUMENT } from "../../core/policy/default-policy.ts";

/** Rules for strict sites, to stand before "dns": "unknown": see docs/policies.md. */
const STRICT_RULES = [
  {
    when: { mail_kind: "forwarder", mx_new_domains: { gte: 10 }, domain_known_days: { lt: 14 } },
    then: "review",
    reason: "burst",
  },
  {
    when: { mail_kind: "forwarder", domain_known_days: { lt: 14 } },
    then: "challenge",
    reason: "burst",
  },
  { when: { mailbox_seen: { gte: 5 } }, then: "review", reason: "repeated_mailbox" },
  { when: { mailbox_abused: { gte: 1 } }, then: "reject", reason: "abuse" },
  { when: { domain_abused: { gte: 3 } }, then: "review", reason: "abuse" },
] as const;

/** Made data in the shapes of the public reports of 2026: names, numbers and mail hosts. */

const BETWEEN_MS = 200;

interface Farm {
  readonly world: GateWorld;
  readonly clock: ManualClock;
  readonly account: { readonly id: string; readonly apiKey: string };
  /** "accept ok", ... of each sign-up. */
  readonly signUp: (
    emails: readonly string[],
    account?: Farm["account"],
  ) => Promise<readonly string[]>;
}

async function farm(
  t: TestContext,
  names: readonly string[],
  host = "mx.farm.example",
): Promise<Farm> {
  const mail = { mx: [`10 ${host}`] };
  const zone: Record<string, Zone[string]> = { [host]: { a: ["198.51.100.1"] } };
  for (const name of names) zone[name] = mail;
  const clock = manualClock();
  const world = await gateWorld(t, { zone, clock });
  const account = await world.account("jo@shop.example");
  const signUp: Farm["signUp"] = async (emails, { apiKey } = account) => {
    const said: string[] = [];
    for (const email of emails) {
      const { answer } = await ask(world, { email }, { "x-api-key": apiKey });
      said.push(`${answer.decision} ${answer.reason}`);
      clock.advance(BETWEEN_MS);
    }
    return said;
  };
  return { world, clock, account, signUp };
}

const numbered = (count: number, make: (at: string) => string): readonly string[] =>
  Array.from({ length: count }, (_, at) => make(String(at)));

const counted = (said: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...new Set(said)].map((one) => [one, said.filter((s) => s === one).length]));

test("ten sub-domains of one registrable domain: review from the fifth sign-up on", async (t) => {
  const names = numbered(10, (at) => `mail${at}.farm.example`);
  const { signUp } = await farm(t, names);
  const said = await signUp(numbered(40, (at) => `m${at}@${names[Number(at) % 10] ?? ""}`));
  assert.deepEqual(said.slice(0, 4), Array<string>(4).fill("accept ok"));
  assert.deepEqual(counted(said.slice(4)), { "review burst": 36 });
});

test("one mailbox on each of ten sub-domains: review from the fifth name on", async (t) => {
  const names = numbered(10, (at) => `mail${at}.farm.example`);
  const { signUp } = await farm(t, names);
  const said = await signUp(names.map((name) => `jo@${name}`));
  assert.deepEqual(counted(said.slice(0, 4)), { "accept ok": 4 });
  assert.deepEqual(counted(said.slice(4)), { "review burst": 6 });
});

test("40 mailboxes on one new domain behind a forwarder: review from the fifth on", async (t) => {
  const { signUp } = await farm(t, ["new.example"], "mx1.improvmx.com");
  const said = await signUp(numbered(40, (at) => `m${at}@new.example`));
  assert.deepEqual(counted(said), { "accept ok": 4, "review burst": 36 });
});

test("300 new names behind one forwarder: review from the tenth on, by the strict rules", async (t) => {
  const names = numbered(300, (at) => `new${at}.example`);
  const { world, account, signUp } = await farm(t, names, "route1.mx.cloudflare.net");
  const owner = (await world.store.accounts.find(account.id)) ?? assert.fail();
  const rules = [...DEFAULT_DOCUMENT.rules.slice(0, -1), ...STRICT_RULES];
  await world.policies.save({ account: owner, author: "jo" }, "default", { rules }, "live");
  const said = await signUp(names.map((name) => `jo@${name}`));
  assert.deepEqual(counted(said.slice(0, 9)), { "challenge burst": 9 });
  assert.deepEqual(counted(said.slice(9)), { "review burst": 291 });
});

test("200 honest customers a day on 150 domains: at most 1 % review", async (t) => {
  const DAYS = 2;
  const names = numbered(150 * DAYS, (at) => `firm${at}.example`);
  const { signUp, clock } = await farm(t, names, "mx.farm.example");
  let said: readonly string[] = [];
  for (let day = 0; day < DAYS; day += 1) {
    const today = names.slice(day * 150, day * 150 + 150);
    // Most firms with one customer, some with two or three.
    const many = [...today, ...today.slice(0, 25), ...today.slice(0, 5)];
    const emails = [...many, ...numbered(20, (at) => today[100 + (Number(at) % 12)] ?? "")];
    said = said.concat(await signUp(emails.map((name, at) => `p${String(at)}@${name}`)));
    clock.advance(DAY_MS - 200 * BETWEEN_MS);
  }
  assert.equal(said.length, 200 * DAYS);
  const reviewed = said.filter((one) => one !== "accept ok").length;
  assert.ok(reviewed <= said.length / 100, String(reviewed));
});

test("40 colleagues: review on the domain's first day and never refused, none after 15 days", async (t) => {
  const colleagues = numbered(40, (at) => `c${at}@firm.example`);
  const early = await farm(t, ["firm.example"]);
  assert.deepEqual(counted(await early.signUp(colleagues)), { "accept ok": 4, "review burst": 36 });
  const late = await farm(t, ["firm.example"]);
  await late.signUp(["jo@firm.example"]);
  late.clock.advance(15 * DAY_MS);
  assert.deepEqual(counted(await late.signUp(colleagues)), { "accept ok": 40 });
});

test("a farm of one account changes no answer of another", async (t) => {
  const { world, signUp } = await farm(t, ["new.example"]);
  await signUp(numbered(40, (at) => `m${at}@new.example`));
  const other = await world.account("ann@other.example");
  assert.deepEqual(await signUp(["m1@new.example"], other), ["accept ok"]);
});

test("an account that does not count its traffic gets no review", async (t) => {
  const { world, account, signUp } = await farm(t, ["new.example"]);
  await world.store.switches.switchTraffic(account.id, "off");
  const said = await signUp(numbered(10, (at) => `m${at}@new.example`));
  assert.deepEqual(counted(said), { "accept ok": 10 });
});

test("a repeated sign-up is counted once, and answered from the cache with what changed since", async (t) => {
  const { signUp } = await farm(t, ["new.example"]);
  assert.deepEqual(counted(await signUp(Array<string>(9).fill("m0@new.example"))), {
    "accept ok": 9,
  });
  await signUp(numbered(5, (at) => `m${at}@new.example`));
  assert.deepEqual(await signUp(["m0@new.example"]), ["review burst"]);
});
