import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../../src/core/calendar.ts";
import { Alerts } from "../../../src/gate/alerts.ts";
import { WatchDuty } from "../../../src/watch/watch-duty.ts";
import { WatchList } from "../../../src/watch/watch-list.ts";
import type { Announce } from "../../../src/webhooks/dispatcher.ts";
import { zoneLookup } from "../../dns/zone-lookup.ts";
import type { Make } from "../contract.ts";
import { addAccount, type Stores } from "../stores.ts";

const HOUR_MS = 3_600_000;
const DNS = zoneLookup({
  "mx.good.example": { a: ["198.51.100.1"] },
  "alive.example": { mx: ["10 mx.good.example"] },
  "silent.example": { unknown: true },
});

/** The contract of watched domains and of alerts. */
export function watchContract(name: string, make: Make<Stores>): void {
  const recording = () => {
    const told: string[] = [];
    const announce: Announce = (_tx, account, event, data) => {
      told.push(`${account} ${event} ${JSON.stringify(data)}`);
      return Promise.resolve();
    };
    return { told, announce, announced: () => undefined };
  };

  test(`${name}: a domain is told as dead after seven days, once, by two that look`, async (t) => {
    const stores = await make(t);
    const { sql, clock, log } = stores;
    await addAccount(stores);
    const { told, ...telling } = recording();
    const datasets = {
      free: new Set<string>(),
      knownGood: new Set<string>(),
      operator: { domain: () => undefined },
    };
    const list = new WatchList({
      db: sql.db,
      clock,
      datasets: () => datasets as never,
      random: () => 0.5,
    });
    const names = ["alive.example", "dead.example", "silent.example"];
    assert.equal((await list.replace("a1", [...names, "gone.example"], 10)).watched, 4);
    assert.equal(await list.remove("a1", ["gone.example"]), 3);
    await assert.rejects(list.add("a1", ["more.example"], 3), /up to 3 domains/);
    const registration = () => ({ kind: "unknown", why: "network" }) as const;
    const lookup = { mx: DNS.mx.bind(DNS), addresses: DNS.addresses.bind(DNS), registration };
    const deps = { db: sql.db, lookup, isDisposable: () => false, clock, log, ...telling };
    const duties = [new WatchDuty(deps), new WatchDuty(deps)];
    for (let hour = 0; hour < 10 * 24; hour += 6) {
      clock.advance(6 * HOUR_MS);
      for (const duty of duties) await duty.round();
    }
    assert.deepEqual(told, ['a1 domain.dead {"domains":["dead.example"]}']);
    const { domains } = await list.page("a1", "");
    assert.deepEqual(
      domains.map((one) => `${one.domain} ${one.mail}`),
      ["alive.example yes", "dead.example no", "silent.example unknown"],
    );
    const [change] = await list.changes("a1");
    assert.equal(change?.domain, "dead.example");
    await list.clear("a1");
    assert.equal(await list.count("a1"), 0);
  });

  test(`${name}: an alert begins, goes on and ends once, whoever notices`, async (t) => {
    const stores = await make(t);
    const { sql, clock, log } = stores;
    await addAccount(stores);
    const { told, ...telling } = recording();
    const servers = [1, 2].map(() => new Alerts({ db: sql.db, clock, log, ...telling }));
    const look = async (notices: boolean): Promise<void> => {
      if (notices) for (const server of servers) server.notice("a1", "burst", "farm.example");
      await Promise.all(servers.map((server) => server.look()));
    };
    const since = new Date(clock.nowMs()).toISOString();
    await look(true);
    clock.advance(HOUR_MS);
    await look(true);
    clock.advance(DAY_MS);
    await look(false);
    const states = told.map((line) => JSON.parse(line.slice(line.indexOf("{"))) as object);
    assert.deepEqual(
      states.map((one) => ({ ...one, count: 0 })),
      ["begins", "goes_on", "ends"].map((state) => ({
        kind: "burst",
        state,
        count: 0,
        since,
        ...(state !== "ends" && { domain: "farm.example" }),
      })),
    );
  });
}
