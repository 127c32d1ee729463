import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { TrafficFacts } from "../../../src/core/policy/policy.ts";
import { DAY_MS } from "../../../src/core/calendar.ts";
import { AccountSwitches } from "../../../src/gate/account-switches.ts";
import { Traffic } from "../../../src/gate/traffic.ts";
import { type Sighting, TrafficStore } from "../../../src/gate/traffic-store.ts";
import { Accounts } from "../../../src/accounts/accounts-store.ts";
import type { Make } from "../contract.ts";
import { addAccount, type Stores } from "../stores.ts";

const NOW_MS = 100 * DAY_MS;

const row = (subject: string, item: string, more: Partial<Sighting> = {}): Sighting => ({
  account_id: "a1",
  since: 1,
  subject,
  kind: "mailbox",
  item,
  first_ms: NOW_MS,
  last_ms: NOW_MS,
  count: 0,
  ...more,
});

/** The rules of the store of traffic. `make` returns an empty database. */
export function trafficContract(name: string, make: Make<Stores>): void {
  const check = (
    rule: string,
    run: (its: Stores & { readonly open: (rowsMax?: number) => TrafficStore }) => Promise<void>,
  ): void =>
    void test(`${name}: ${rule}`, async (t) => {
      const stores = await make(t);
      for (const id of ["a1", "a2"]) await addAccount(stores, 0, id);
      const open = (most?: number) => {
        const rowsMax = most === undefined ? undefined : { source: most, other: most };
        return new TrafficStore(stores.sql.db, stores.clock, rowsMax);
      };
      await run({ ...stores, open });
    });

  check("a row keeps when it was first seen and takes the later last time", async ({ open }) => {
    const traffic = open();
    await traffic.add([row("d1", "m1"), row("d1", "m2"), row("d2", "m1")]);
    await traffic.add([row("d1", "m1", { first_ms: NOW_MS + 5, last_ms: NOW_MS + 5 })]);
    await traffic.add([row("d1", "m2", { first_ms: NOW_MS - 5, last_ms: NOW_MS - 5 })]);
    const found = await traffic.ofSubjects("a1", ["d1", "d9"]);
    const times = found.map(
      ({ item, first_ms, last_ms }) =>
        `${item} ${String(first_ms - NOW_MS)} ${String(last_ms - NOW_MS)}`,
    );
    assert.deepEqual(times.sort(), ["m1 0 5", "m2 0 0"]);
    assert.deepEqual(await traffic.ofSubjects("a2", ["d1", "d2"]), []);
  });

  check("nothing is kept for accounts that are off, gone, or counted anew", async (its) => {
    const traffic = its.open();
    const { db } = its.sql;
    const accounts = new Accounts(db);
    const turn = new AccountSwitches({ accounts, db, clock: its.clock }).switchTraffic;
    await traffic.add([row("d1", "m1"), row("d1", "m1", { account_id: "a2" })]);
    await turn("a1", "off");
    await traffic.add([row("d1", "m2"), row("d1", "m2", { account_id: "gone" })]);
    await turn("a1", "on");
    await traffic.add([row("d1", "m3")]);
    assert.deepEqual(await traffic.ofSubjects("a1", ["d1"]), []);
    assert.deepEqual(await traffic.ofSubjects("gone", ["d1"]), []);
    assert.equal((await traffic.ofSubjects("a2", ["d1"])).length, 1);
  });

  check("beyond the most rows of an account the oldest go first", async ({ open, sql }) => {
    const traffic = open(100);
    const rows = Array.from({ length: 130 }, (_, at) =>
      row(`d${String(at)}`, "m1", { last_ms: NOW_MS + at }),
    );
    await traffic.add([row("d1", "m1", { account_id: "a2" })]);
    for (let at = 0; at < rows.length; at += 13) await traffic.add(rows.slice(at, at + 13));
    const kept = await sql.db
      .selectFrom("traffic")
      .selectAll()
      .where("account_id", "=", "a1")
      .execute();
    assert.ok(kept.length <= 100 && kept.length > 80, String(kept.length));
    assert.ok(kept.every(({ last_ms: ms }) => Number(ms) >= NOW_MS + 130 - kept.length));
    assert.equal((await traffic.ofSubjects("a2", ["d1"])).length, 1);
  });

  check("servers agree on each message, however many are asked for at once", async (its) => {
    const { clock, log } = its;
    const MESSAGE = { question: "send", isKnown: false, sources: [] } as const;
    const owner = { accountId: "a1", since: 1, isPage: false };
    const marks = { owner, mailbox: "m1", spelling: "s1", messages: "all" };
    const servers = ["1", "2"].map((name) => {
      const ids = { hex32: () => name.repeat(32) };
      return new Traffic({ store: its.open(), clock, ids, log, freshMs: 400 });
    });
    const ask = async (traffic: Traffic): Promise<boolean> => {
      await traffic.read(marks, 10_000, MESSAGE);
      const isFine = ({ sent_10m: sent = 0 }: TrafficFacts): boolean => sent < 3;
      if (!isFine(traffic.facts(marks, MESSAGE))) return false;
      const how = { isSent: true, timeoutMs: 10_000 };
      return (await traffic.countMessage(marks, MESSAGE, how, isFine)) === undefined;
    };
    const all = Array.from({ length: 40 }, (_, at) => ask(servers[at % 2] ?? assert.fail()));
    const sent = await Promise.all(all);
    assert.deepEqual(log.lines, []);
    assert.equal(sent.filter(Boolean).length, 3);
  });

  check("a flood of new keys leaves the honest ones of the day", async ({ open, sql }) => {
    const traffic = open(200);
    const of = (key: string, mailbox: string, atMs: number): Sighting =>
      row(key, mailbox, { kind: "source", first_ms: atMs, last_ms: atMs });
    const honest = Array.from({ length: 60 }, (_, at) =>
      of(`office${String(at % 20)}`, `m${String(at)}`, NOW_MS - DAY_MS / 2),
    );
    await traffic.add(honest);
    for (let at = 0; at < 3_000; at += 50) {
      const flood = Array.from({ length: 50 }, (_, one) =>
        of(`new${String(at + one)}`, "m1", NOW_MS - 3_600_000 + at * 1_000),
      );
      await traffic.add(flood);
    }
    const rows = await sql.db.selectFrom("traffic").select(["subject", "last_ms"]).execute();
    assert.ok(rows.length <= 200, String(rows.length));
    const flooded = rows.filter(({ subject }) => subject.startsWith("new"));
    assert.equal(rows.length - flooded.length, 60, "offices have several mailboxes each");
    const oldest = Math.min(...flooded.map(({ last_ms: atMs }) => Number(atMs)));
    assert.ok(oldest >= NOW_MS - 3_600_000 + 2_750_000, "the oldest of the flood went first");
  });

  check("pruning deletes what counts no more, each kind after its time", async ({ open }) => {
    const traffic = open();
    await traffic.add([row("d1", "m1"), row("d1", "s1", { kind: "spelling" })]);
    await traffic.add([row("d1", "d1", { kind: "domain" })]);
    const left = async (afterMs: number): Promise<readonly string[]> => {
      await traffic.prune(NOW_MS + afterMs);
      return (await traffic.ofSubjects("a1", ["d1"])).map(({ kind }) => kind).sort();
    };
    assert.deepEqual(await left(DAY_MS - 1), ["domain", "mailbox", "spelling"]);
    assert.deepEqual(await left(DAY_MS), ["domain", "spelling"]);
    assert.deepEqual(await left(7 * DAY_MS), ["domain"]);
    assert.deepEqual(await left(400 * DAY_MS), []);
  });
}
