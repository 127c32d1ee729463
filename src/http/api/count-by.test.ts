import assert from "node:assert/strict";
import { test } from "node:test";
import { ask } from "../../../test/policy/asked-decision.ts";
import { at, crowd, MINUTE_MS, person } from "../../../test/policy/crowd.ts";
import { counted } from "../../../test/policy/sender.ts";
import { inject } from "../../../test/http/inject.ts";
import { DAY_MS } from "../../core/calendar.ts";

test("counts are of the mailboxes before this one, by windows, and a network beside an address", async (t) => {
  const { clock, decide } = await crowd(t);
  const countsOf = async (email: string, ip: string) => (await decide(email, at(ip))).answer.counts;
  const none = { "10m": 0, day: 0, "30d": 0 };
  assert.deepEqual(await countsOf(person(1), "203.0.113.7"), { ip: none, net: none });
  await countsOf(person(1), "203.0.113.7");
  await countsOf("P1.X1@gmail.com", "203.0.113.7");
  await countsOf(person(2), "203.0.113.8");
  clock.advance(11 * MINUTE_MS);
  assert.deepEqual(await countsOf(person(3), "203.0.113.7"), {
    ip: { "10m": 0, day: 1, "30d": 1 },
    net: { "10m": 0, day: 2, "30d": 2 },
  });
  clock.advance(25 * 60 * MINUTE_MS);
  assert.deepEqual(await countsOf(person(1), "203.0.113.7"), {
    ip: { "10m": 0, day: 0, "30d": 1 },
    net: { "10m": 0, day: 0, "30d": 2 },
  });
  clock.advance(31 * DAY_MS);
  assert.deepEqual(await countsOf(person(4), "203.0.113.7"), { ip: none, net: none });
});

const SAME: readonly (readonly [one: string, other: string, ip: boolean, net: boolean])[] = [
  ["203.0.113.7", "203.0.113.8", false, true],
  ["203.0.113.7", "203.0.114.7", false, false],
  ["203.0.113.7", "::ffff:203.0.113.7", true, true],
  ["203.0.113.7", "203.0.113.7:4711", true, true],
  ["2001:db8:1:2::1", "[2001:db8:1:2::1]:4711", true, true],
  ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true, true],
  ["2001:db8:1:2::1", "2001:db8:1:3::1", false, true],
  ["2001:db8:1:2::1", "2001:db8:2:2::1", false, false],
  ["2001:DB8:1:2::1", "2001:0db8:0001:0002:0:0:0:1", true, true],
];

for (const [one, other, ip, net] of SAME) {
  test(`${one} and ${other} are counted ${ip ? "as one" : net ? "as one network" : "apart"}`, async (t) => {
    const { decide } = await crowd(t);
    await decide(person(1), at(one));
    const { counts } = (await decide(person(2), at(other))).answer;
    assert.deepEqual([counts?.["ip"]?.day === 1, counts?.["net"]?.day === 1], [ip, net]);
  });
}

const WRONG: readonly (readonly [name: string, countBy: unknown, error: RegExp])[] = [
  ["no object", ["ip"], /^Parameter count_by must be an object of at most 3 names/],
  ["four names", { a: "1", b: "1", c: "1", d: "1" }, /count_by must be/],
  ["a network", { net: "203.0.113" }, /count_by must be/],
  ["a name in capitals", { IP: "203.0.113.7" }, /count_by must be/],
  ["a long name", { abcdefghijklmnopq: "1" }, /count_by must be/],
  ["no address", { ip: "203.0.113" }, /^Parameter count_by\.ip must be an IPv4 or IPv6 address\.$/],
  ["several addresses", { ip: "203.0.113.7, 10.0.0.1" }, /count_by\.ip must be/],
];

for (const [name, count_by, error] of WRONG) {
  test(`count_by is refused with its path: ${name}`, async (t) => {
    const { decide } = await crowd(t);
    const { status, answer } = await decide(person(1), { count_by });
    assert.equal(status, 400);
    assert.match((answer as unknown as { error: string }).error, error);
  });
}

test("a value that a visitor chose is cut or left out, never refused", async (t) => {
  const { decide } = await crowd(t);
  for (const coupon of [["a"], { a: 1 }, null, true, "", "x".repeat(9_000), 7]) {
    const { status } = await decide(person(1), { count_by: { coupon } });
    assert.equal(status, 200);
  }
  const { answer } = await decide(person(2), { count_by: { coupon: "x".repeat(500) } });
  assert.equal(answer.counts?.["coupon"]?.day, 1, "cut to the same");
});

test("what is counted by: a sign-up that is not refused, each question apart, no other account", async (t) => {
  const { world, decide } = await crowd(t, { known: { curated: ["bad.example"] } });
  const by = { count_by: { inviter: "u_12" } };
  await decide("jo@bad.example", by);
  await decide(person(1), by);
  const counts = async (more: object) =>
    (await decide(person(9), { ...by, ...more })).answer.counts;
  assert.equal((await counts({}))?.["inviter"]?.day, 1, "the refused one is not counted");
  assert.equal((await counts({ for: "invite" }))?.["inviter"]?.day, 0);
  const other = await world.account("ann@other.example");
  const { answer } = await ask(world, { email: person(2), ...by }, { "x-api-key": other.apiKey });
  assert.equal(answer.counts?.["inviter"]?.day, 0);
});

test("20 invitations in ten minutes, and who is invited may be written to three times", async (t) => {
  const { said, key, world } = await crowd(t);
  const invite = { for: "invite", count_by: { inviter: "u_12" } };
  const all: string[] = [];
  for (let one = 0; one < 25; one += 1) all.push(await said(person(one), invite));
  assert.deepEqual(counted(all), { "accept ok": 20, "reject many": 5 });
  const victim: string[] = [];
  for (let one = 0; one < 5; one += 1) {
    victim.push(
      await said("victim@gmail.com", { for: "invite", count_by: { inviter: `u${String(one)}` } }),
    );
  }
  assert.deepEqual(counted(victim), { "accept ok": 3, "reject too_often": 2 });
  assert.equal(await said("victim@gmail.com", { for: "send" }), "reject too_often");
  const nobody = await ask(world, { email: person(1), for: "invite" }, {});
  assert.equal(nobody.status, 401);
  assert.ok(key);
});

test("a meetup of 60 behind one address in a day is accepted", async (t) => {
  const { clock, said } = await crowd(t);
  const all: string[] = [];
  const names = ["anna", "ben.weber", "carla77", "d.eva", "finn1990", "x9.greta", "hugo1"];
  for (let one = 0; one < 60; one += 1) {
    const email = `${"q".repeat(Math.floor(one / 7))}${names[one % 7] ?? ""}@gmail.com`;
    all.push(await said(email, at("203.0.113.7")));
    clock.advance(MINUTE_MS);
  }
  assert.deepEqual(counted(all), { "accept ok": 60 });
});

const FIRST = ["anna", "ben", "carla", "david", "eva", "finn", "greta", "hugo", "ida", "jonas"];
const digits = (number: number, length: number): string => String(number).padStart(length, "0");

test("60 times first name and four digits within half an hour among 40 honest ones: review from the 31st on", async (t) => {
  const { clock, said } = await crowd(t);
  const farm: string[] = [];
  const honest: string[] = [];
  for (let one = 0; one < 60; one += 1) {
    const name = `${FIRST[one % 10] ?? ""}${digits(one * 37, 4)}@gmail.com`;
    farm.push(await said(name));
    if (one % 3 !== 2) {
      const own = [
        `${FIRST[one % 10] ?? ""}.weber`,
        `maria${digits(one, 2)}`,
        "lukas",
        "j.smith.x9",
      ];
      honest.push(await said(`${own[one % 4] ?? ""}${"q".repeat(one % 7)}@gmail.com`));
    }
    clock.advance(30_000);
  }
  assert.ok(
    farm.slice(30).every((one) => one === "review burst"),
    JSON.stringify(counted(farm)),
  );
  assert.ok(
    honest.every((one) => one === "accept ok"),
    JSON.stringify(counted(honest)),
  );
});

test("a page's visitors count by their address without asking, apart, and are told nothing", async (t) => {
  const { world, account, decide } = await crowd(t);
  const made = await world.store.keys.create(account.id, "page", {
    origins: ["https://shop.example"],
  });
  const headers = { "x-api-key": made.apiKey, origin: "https://shop.example" };
  const all: string[] = [];
  for (let one = 0; one < 25; one += 1) {
    const { answer } = await ask(
      world,
      { email: person(one), count_by: { ip: "1.2.3.4" } },
      headers,
    );
    assert.ok(!("counts" in answer));
    all.push(`${answer.decision} ${answer.reason}`);
  }
  assert.deepEqual(counted(all.slice(20)), { "review many": 5 });
  const own = await decide(person(99), at("127.0.0.1"));
  assert.equal(own.answer.counts?.["ip"]?.day, 0);
});

test("the decision log has the keys by short hashes, filters by them, and groups what is alike", async (t) => {
  const { world, account, key, decide } = await crowd(t);
  await world.store.switches.switchLog(account.id, "on");
  for (let one = 0; one < 3; one += 1) {
    await decide(person(one), at("203.0.113.7", { inviter: "u_12" }));
    await decide(person(one + 10), at("198.51.100.7"));
  }
  await world.flush();
  const read = async (query: string) => {
    const reply = await inject(world.app, {
      method: "GET",
      url: `/api/decisions?${query}`,
      headers: key,
    });
    assert.equal(reply.statusCode, 200, reply.body);
    return reply.json<{
      decisions: { sources: { name: string; id: string }[]; shape: string | null }[];
      groups?: Record<string, { value: string; count: number; decided: object }[]>;
    }>();
  };
  const { decisions, groups } = await read("groups=1");
  const [newest, second] = decisions;
  assert.deepEqual(
    second?.sources.map(({ name }) => name),
    ["ip", "net", "inviter"],
  );
  assert.equal(newest?.shape, "mixed");
  assert.deepEqual(
    groups?.["sources"]?.map(({ count }) => count),
    [3, 3, 3, 3, 3],
  );
  const [{ id } = { id: "" }] = second?.sources ?? [];
  assert.equal((await read(`source=ip:${id}`)).decisions.length, 3);
  assert.equal((await read(`source=inviter:${id}`)).decisions.length, 0);
  assert.equal((await read("shape=mixed")).decisions.length, 6);
  const bad = await inject(world.app, {
    method: "GET",
    url: "/api/decisions?source=203.0.113.7",
    headers: key,
  });
  assert.equal(bad.statusCode, 400);
});

test("no value stands in the database in clear", async (t) => {
  const { world, account, decide } = await crowd(t);
  await world.store.switches.switchLog(account.id, "on");
  const marks = ["203.0.113.77", "203.0.113", "marked-inviter", "marked-coupon"];
  const count_by = { ip: marks[0], inviter: marks[2], coupon: marks[3] };
  for (const question of ["signup", "send", "invite"])
    await decide("marked-name@gmail.com", { count_by, for: question });
  await world.flush();
  const { db } = world.store.sql;
  for (const table of ["traffic", "decisions", "outcome_counts", "audit_entries"] as const) {
    const text = JSON.stringify(await db.selectFrom(table).selectAll().execute());
    for (const mark of [...marks, "marked-name"])
      assert.ok(!text.includes(mark), `${table} ${mark}`);
  }
  for (const mark of marks) assert.ok(!world.log.text().includes(mark), mark);
  await world.store.switches.switchTraffic(account.id, "off");
  assert.deepEqual(await db.selectFrom("traffic").selectAll().execute(), []);
});
