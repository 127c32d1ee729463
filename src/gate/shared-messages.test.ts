import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { addAccount, openStores } from "../../test/contracts/stores.ts";
import { DAY_MS } from "../core/calendar.ts";
import { StoreDown } from "../base/store-down.ts";
import { LATE } from "./shared-messages.ts";
import { Traffic } from "./traffic.ts";
import { TrafficStore } from "./traffic-store.ts";

const MESSAGE = { question: "send", isKnown: false, sources: [] } as const;
const DEADLINE_MS = 1_500;
const FAULT_AFTER_MS = 100;

/** How the store does: milliseconds that it takes, or what it throws. */
interface Condition {
  of: number | Error;
}

/** Two servers, which ask before they send to one mailbox. */
async function openServers(t: TestContext, condition: Condition, most = 3) {
  const stores = await openStores(t);
  const { clock, log, sql } = stores;
  clock.advance(20_000 * DAY_MS);
  await addAccount(stores, 0, "a1");
  const real = new TrafficStore(sql.db, clock);
  const after = async <T>(work: () => Promise<T>): Promise<T> => {
    const ms = condition.of instanceof Error ? FAULT_AFTER_MS : condition.of;
    if (ms > 0) await new Promise<void>((resolve) => void clock.after(ms, resolve));
    if (condition.of instanceof Error) throw condition.of;
    return await work();
  };
  const store = {
    ofSubjects: (...asked: Parameters<TrafficStore["ofSubjects"]>) =>
      after(() => real.ofSubjects(...asked)),
    add: (...rows: Parameters<TrafficStore["add"]>) => after(() => real.add(...rows)),
    addIf: (...asked: Parameters<TrafficStore["addIf"]>) => after(() => real.addIf(...asked)),
  };
  const servers = ["1", "2"].map(
    (name) =>
      new Traffic({ store, clock, log, freshMs: 400, ids: { hex32: () => name.repeat(32) } }),
  );
  const owner = { accountId: "a1", since: 1, isPage: false };
  const marks = { owner, mailbox: "m1", spelling: "s1", messages: "all" };
  const ask = async (traffic: Traffic): Promise<string> => {
    const endMs = clock.monotonicMs() + DEADLINE_MS;
    await traffic.read(marks, DEADLINE_MS, MESSAGE);
    const isFine = ({ sent_10m: sent = 0 }: { sent_10m?: number | undefined }): boolean =>
      most === Infinity || sent < most;
    if (!isFine(traffic.facts(marks, MESSAGE))) return "too often";
    const how = { isSent: true, timeoutMs: endMs - clock.monotonicMs() };
    const held = await traffic.countMessage(marks, MESSAGE, how, isFine);
    if (held === undefined) return "sent";
    return held === LATE ? "waits" : "too often";
  };
  /** So many questions at once, every other one at the second server; and then this long. */
  const said = async (count: number, ms: number): Promise<Readonly<Record<string, number>>> => {
    const asked = Array.from({ length: count }, (_, at) => ask(servers[at % 2] ?? assert.fail()));
    const all = Promise.all(asked);
    for (let passed = 0; passed < ms; passed += 100) {
      await turns();
      clock.advance(100);
    }
    await turns();
    const tally: Record<string, number> = {};
    for (const one of await all) tally[one] = (tally[one] ?? 0) + 1;
    return tally;
  };
  return { said, condition, clock, servers };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 40; turn += 1) await new Promise(setImmediate);
};

const SLOW_MS = 2_000;

test("a store that is slower than the deadline: messages wait, and three go out in all", async (t) => {
  const { said } = await openServers(t, { of: SLOW_MS });
  assert.deepEqual(await said(40, 10_000), { waits: 40 });
  const sums = { sent: 0 };
  for (let round = 0; round < 12; round += 1) sums.sent += (await said(40, 10_000))["sent"] ?? 0;
  assert.equal(sums.sent, 3);
});

test("one person at a slow store asks twice for each message", async (t) => {
  const { said } = await openServers(t, { of: SLOW_MS });
  const all: string[] = [];
  for (let at = 0; at < 8; at += 1) all.push(...Object.keys(await said(1, 5_000)));
  const twice = ["waits", "sent"];
  assert.deepEqual(all, [...twice, ...twice, ...twice, "too often", "too often"]);
});

test("what was counted too late counts from when it goes out", async (t) => {
  const { said, condition, clock } = await openServers(t, { of: SLOW_MS }, 1);
  assert.deepEqual(await said(1, 5_000), { waits: 1 });
  condition.of = 0;
  clock.advance(9 * 60_000);
  assert.deepEqual(await said(1, 5_000), { sent: 1 });
  clock.advance(9 * 60_000);
  assert.deepEqual(await said(2, 5_000), { "too often": 2 });
  clock.advance(60_000);
  assert.deepEqual(await said(2, 5_000), { sent: 1, "too often": 1 });
});

test("a store that is away: each server sends by its share", async (t) => {
  const { said, condition } = await openServers(t, { of: new StoreDown("away") });
  assert.deepEqual(await said(40, 3_000), { sent: 2, "too often": 38 });
  condition.of = 0;
  await said(0, 1_000); // what went out uncounted is written
  assert.deepEqual(await said(40, 3_000), { sent: 1, "too often": 39 });
});

test("a store that says nothing is late for five seconds, and away then", async (t) => {
  const { said } = await openServers(t, { of: 3_600_000 });
  assert.deepEqual(await said(40, 5_000), { waits: 40 });
  assert.deepEqual(await said(40, 3_000), { sent: 2, "too often": 38 });
});

test("a crowded store is asked again until the deadline", async (t) => {
  const cause = new Error("timeout exceeded when trying to connect");
  const condition: Condition = { of: new StoreDown("crowded", { cause }) };
  const { said, clock } = await openServers(t, condition);
  clock.after(500, () => (condition.of = 0));
  assert.deepEqual(await said(40, 3_000), { sent: 3, "too often": 37 });
});

test("a policy without a limit lets messages out, counted or not", async (t) => {
  const { said } = await openServers(t, { of: SLOW_MS }, Infinity);
  assert.deepEqual(await said(20, 3_000), { sent: 20 });
});
