import assert from "node:assert/strict";
import { test } from "node:test";
import { addAccount, openStores } from "../../test/contracts/stores.ts";
import type { BrokenPart } from "../base/health.ts";
import type { Announce } from "../webhooks/dispatcher.ts";
import { tellHealth } from "../webhooks/health-alerts.ts";
import { Alerts } from "./alerts.ts";

const MINUTE_MS = 60_000;
const KINDS = [
  "burst",
  "many",
  "shape",
  "wave",
  "repeated_mailbox",
  "review",
  "failed_open",
] as const;

for (const kind of KINDS) {
  test(`${kind} begins, goes on each hour and ends, each told once through kills`, async (t) => {
    const { sql, clock, log } = await openStores(t);
    const told: object[] = [];
    let dies = false;
    const announce: Announce = (_tx, account, event, data) => {
      if (dies) return Promise.reject(new Error("killed"));
      const { since: _, ...seen } = data as { since: string };
      told.push({ account, event, ...seen });
      return Promise.resolve();
    };
    const open = () => new Alerts({ db: sql.db, clock, log, announce, announced: () => undefined });
    let alerts = open();
    const look = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) alerts.notice("a1", kind);
      await alerts.look();
    };
    await look(3);
    for (let at = 0; at < 7; at += 1) {
      clock.advance(10 * MINUTE_MS);
      alerts = open(); // another process
      await look(1);
    }
    // Killed in the transaction that ends it: another process tells it.
    clock.advance(61 * MINUTE_MS);
    dies = true;
    await assert.rejects(look(0), /killed/);
    dies = false;
    alerts = open();
    await look(0);
    await look(0);
    const one = { account: "a1", event: "gate.alert", kind };
    assert.deepEqual(told, [
      { ...one, state: "begins", count: 3 },
      { ...one, state: "goes_on", count: 6 },
      { ...one, state: "ends", count: 1 },
    ]);
  });
}

for (const [shape, kind, domain] of [
  [undefined, "burst", "farm.example"],
  ["wwwwdd", "shape", undefined],
] as const) {
  test(`a burst ${shape === undefined ? "of a domain" : "of names alike"} is told as ${kind}`, async (t) => {
    const { sql, clock, log } = await openStores(t);
    const told: object[] = [];
    const announce: Announce = (_tx, _account, _event, data) => {
      told.push(data);
      return Promise.resolve();
    };
    const alerts = new Alerts({ db: sql.db, clock, log, announce, announced: () => undefined });
    const outcome = { decision: "review", reason: "burst", rule: 3 } as const;
    const facts = { registrable_domain: "farm.example" };
    alerts.noticeDecision("a1", { outcome, facts, shape } as never);
    await alerts.look();
    const since = new Date(clock.nowMs()).toISOString();
    assert.deepEqual(told, [
      { kind: "review", state: "begins", count: 1, since },
      { kind, state: "begins", count: 1, since, ...(domain && { domain }) },
    ]);
  });
}

test("a part that breaks and is mended is told to administrators, each once", async (t) => {
  const stores = await openStores(t);
  const { sql, clock, log } = stores;
  await addAccount(stores, 0, "a1", { isAdmin: true });
  await addAccount(stores, 0, "a2");
  const told: unknown[] = [];
  const announce: Announce = (_tx, account, event, data) => {
    told.push({ account, event, ...data });
    return Promise.resolve();
  };
  let broken: readonly BrokenPart[] = [];
  const health = { now: () => Promise.resolve(broken) };
  const deps = { db: sql.db, health, clock, log, announce, announced: () => undefined };
  await tellHealth(deps);
  const sinceMs = clock.nowMs();
  broken = [{ part: "dns", says: "It is silent.", toDo: "Mend it.", sinceMs, stops: true }];
  await tellHealth(deps);
  await tellHealth(deps);
  broken = [];
  await tellHealth(deps);
  await tellHealth(deps);
  const one = { account: "a1", event: "service.health", part: "dns" };
  const since = new Date(sinceMs).toISOString();
  assert.deepEqual(told, [
    { ...one, state: "broken", since, says: "It is silent.", to_do: "Mend it." },
    { ...one, state: "mended", since },
  ]);
});
