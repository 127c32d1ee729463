import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { openStores } from "../../test/contracts/stores.ts";
import { zoneLookup } from "../../test/dns/zone-lookup.ts";
import type { Registration } from "../core/mail/lookup.ts";
import { DAY_MS, dayOf } from "../core/calendar.ts";
import type { Announce } from "../webhooks/dispatcher.ts";
import { WatchDuty } from "./watch-duty.ts";
import { WatchList } from "./watch-list.ts";

const DNS = zoneLookup({
  "mx.good.example": { a: ["198.51.100.1"] },
  yes: { mx: ["10 mx.good.example"] },
  silent: { unknown: true },
});
const STEP_MS = 600_000;

/** A watch over DNS and registrations that the test changes, with what it told. */
async function openWorld(t: TestContext) {
  const { sql, clock, log } = await openStores(t);
  const { db } = sql;
  const world = {
    mail: (_name: string): "yes" | "no" | "silent" => "no",
    registered: (_name: string): number | undefined => undefined,
    disposable: new Set<string>(),
    dies: 0,
  };
  const asked: string[] = [];
  const told: { readonly account: string; readonly kind: string; readonly domains: string[] }[] =
    [];
  const announce: Announce = (_tx, account, kind, data) => {
    const { domains } = data as { domains: string[] };
    told.push({ account, kind, domains });
    return Promise.resolve();
  };
  const dead = new Promise<never>(() => undefined);
  const open = (): WatchDuty =>
    new WatchDuty({
      db,
      lookup: {
        mx(name) {
          asked.push(`${String(dayOf(clock.nowMs()))} ${name}`);
          return world.dies > 0 && asked.length % world.dies === 0
            ? dead
            : DNS.mx(world.mail(name));
        },
        addresses: (name) => DNS.addresses(name),
        registration(name) {
          const registeredAtMs = world.registered(name);
          const records: Registration[] = registeredAtMs === undefined ? [] : [{ registeredAtMs }];
          return registeredAtMs === undefined
            ? { kind: "unknown", why: "network" }
            : { kind: "found", records, expiresAtMs: Infinity };
        },
      },
      isDisposable: (name) => world.disposable.has(name),
      clock,
      log,
      announce,
      announced: () => undefined,
    });
  const datasets = () => ({
    free: new Set(["gmail.com"]),
    knownGood: new Set<string>(),
    operator: { domain: () => undefined },
  });
  let seed = 7;
  const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const list = new WatchList({ db, datasets: datasets as never, clock, random });
  const days = async (count: number, stepMs = STEP_MS): Promise<void> => {
    const duty = open();
    for (let at = 0; at < (count * DAY_MS) / stepMs; at += 1) {
      clock.advance(stepMs);
      await duty.round();
    }
  };
  return { world, asked, told, open, list, clock, days, db };
}

const toldOf = (told: readonly { kind: string; domains: string[] }[], kind: string) =>
  told.filter((one) => one.kind === kind).flatMap(({ domains }) => domains);

/** Of PyPI's 20,000 domains all that something happens to, and as many at a time: a look is a look. */
const MANY = 5_000;
const MANY_STEP_MS = (STEP_MS * 20_000) / MANY;

test("PyPI's case: of 5,000 domains 1,091 die and 40 change hands, each told once, none falsely", async (t) => {
  const { world, told, asked, list, clock, days } = await openWorld(t);
  const names = Array.from({ length: MANY }, (_, at) => `user-${String(at)}.example`);
  const numberOf = (name: string): number => Number(/\d+/.exec(name)?.[0]);
  const startDay = dayOf(clock.nowMs());
  const day = (): number => dayOf(clock.nowMs()) - startDay;
  const isDead = (name: string): boolean => numberOf(name) < 1_091;
  /** These have six bad days, and are back. */
  const isIll = (name: string): boolean => numberOf(name) >= MANY - 1_000;
  world.mail = (name) => {
    if (day() === 5 || day() === 6) return "silent";
    if (isDead(name) && day() >= 1) return "no";
    if (isIll(name) && day() >= 2 && day() <= 9 && (numberOf(name) % 2 === 0 || day() !== 4))
      return "no";
    return "yes";
  };
  const bornMs = Date.UTC(2015, 1, 1);
  world.registered = (name) => {
    if (numberOf(name) % 3 === 0 && !name.includes("-20")) return undefined;
    const isSold = numberOf(name) >= 2_000 && numberOf(name) < 2_040;
    return isSold && day() >= 4 ? Date.UTC(2026, 10, 23) : bornMs;
  };
  assert.deepEqual((await list.add("a1", names, 100_000)).watched, MANY);
  await days(12, MANY_STEP_MS);
  const dead = toldOf(told, "domain.dead");
  assert.deepEqual([dead.length, new Set(dead).size], [1_091, 1_091]);
  assert.ok(dead.every(isDead));
  const sold = toldOf(told, "domain.changed_hands");
  assert.deepEqual([sold.length, new Set(sold).size], [40, 40]);
  assert.deepEqual(toldOf(told, "domain.back"), []);
  assert.ok(told.every(({ domains }) => domains.length <= 1_000));
  // Each was asked once a day.
  assert.equal(new Set(asked).size, asked.length);
  assert.ok(asked.length >= 11 * MANY && asked.length <= 12 * MANY, String(asked.length));

  world.mail = () => "yes";
  await days(3, MANY_STEP_MS);
  assert.deepEqual(toldOf(told, "domain.back").toSorted(), dead.toSorted());
});

test("a kill asks nothing twice and tells nothing twice, and two accounts are told apart", async (t) => {
  const { world, told, asked, list, days, open, clock, db } = await openWorld(t);
  const names = Array.from({ length: 60 }, (_, at) => `user-${String(at)}.example`);
  await list.add("a1", names, 100);
  await list.add("a2", names.slice(0, 3), 100);
  world.disposable.add("user-59.example");
  world.dies = 7;
  for (let at = 0; at < (12 * DAY_MS) / STEP_MS; at += 1) {
    clock.advance(STEP_MS);
    // A round that hangs is a process that was killed: the next one is another's.
    const killed = new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));
    await Promise.race([open().round(), killed]);
  }
  world.dies = 0;
  await days(8);
  const ofAccount = new Map<string, number>();
  for (const each of asked) ofAccount.set(each, (ofAccount.get(each) ?? 0) + 1);
  for (const [each, times] of ofAccount) {
    const both = /user-[012]\./.test(each) ? 2 : 1;
    assert.ok(times <= both, `${each} was asked ${String(times)} times`);
  }
  for (const account of ["a1", "a2"]) {
    const own = told.filter((one) => one.account === account);
    const dead = toldOf(own, "domain.dead");
    assert.equal(dead.length, account === "a1" ? 60 : 3, account);
    assert.equal(new Set(dead).size, dead.length);
  }
  assert.deepEqual(toldOf(told, "domain.disposable"), ["user-59.example"]);
  const untold = await db
    .selectFrom("watch_events")
    .selectAll()
    .where("told_ms", "is", null)
    .execute();
  assert.deepEqual(untold, []);
});

test("a list replaces, adds, removes, refuses by name, and keeps to the plan", async (t) => {
  const { list, db } = await openWorld(t);
  const put = await list.replace("a1", ["a.example", "B.example", "gmail.com", "x@y"], 3);
  assert.deepEqual(put, {
    watched: 2,
    refused: [
      { domain: "gmail.com", why: "shared" },
      { domain: "x@y", why: "malformed" },
    ],
  });
  await db.updateTable("watched").set({ no_days: 5 }).where("domain", "=", "a.example").execute();
  assert.equal((await list.replace("a1", ["a.example", "c.example"], 3)).watched, 2);
  const { domains, next } = await list.page("a1", "");
  assert.deepEqual([domains.map(({ domain }) => domain), next], [["a.example", "c.example"], null]);
  const kept = await db.selectFrom("watched").select("no_days").orderBy("domain").execute();
  assert.deepEqual(
    kept.map(({ no_days }) => no_days),
    [5, 0],
  );
  await assert.rejects(list.add("a1", ["d.example", "e.example"], 3), /up to 3 domains/);
  assert.equal(await list.count("a1"), 2);
  assert.equal(await list.remove("a1", ["A.example"]), 1);
  await list.clear("a1");
  assert.equal(await list.count("a1"), 0);
});
