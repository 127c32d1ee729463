import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Accounts } from "../../../src/accounts/accounts-store.ts";
import type { SqlDatabase } from "../../../src/store/database.ts";
import { delivery } from "../webhooks/stored-delivery.ts";
import { Deliveries } from "../../../src/webhooks/webhooks-store.ts";
import type { Rule } from "../../../src/lists/rules/entry-json.ts";
import { RuleStore } from "../../../src/lists/rules/rule.ts";
import { type Sighting, TrafficStore } from "../../../src/gate/traffic-store.ts";
import { AccountSwitches } from "../../../src/gate/account-switches.ts";
import { systemIds } from "../../../src/base/ids.ts";
import { type BulkStores, openBulkStores } from "../bulk/bulk-stores.ts";
import { recordingLog, storesOn } from "../stores.ts";
import { jobRaces } from "./job-races.ts";
import {
  PROCESSES,
  type Race,
  balanceOf,
  creditTerms,
  everywhere,
  grant,
  unitsUsed,
} from "./rivals.ts";

/** Opens the one database once more, as another process does. */
export type OpenAgain = (nowMs: number) => Promise<SqlDatabase>;

const moneyRaces: Readonly<Record<string, Race>> = {
  "charges of all processes at the end of a credit balance spend exactly the rest": async (
    rivals,
  ) => {
    await grant(rivals, 40);
    const answers = await everywhere(rivals, 10, ({ charges }) =>
      charges.charge(creditTerms(rivals, 3)),
    );
    assert.equal(answers.filter(({ kind }) => kind === "charged").length, 13);
    assert.equal(await balanceOf(rivals), 1);
  },
  "charges of one process at the limit of a quota, on many connections, grant exactly what is left":
    async (rivals) => {
      const { charges } = rivals.first;
      const terms = { ...creditTerms(rivals, 7), purses: "plan" } as const;
      const answers = await Promise.all(Array.from({ length: 40 }, () => charges.charge(terms)));
      assert.equal(answers.filter(({ kind }) => kind === "charged").length, 14);
      assert.equal(await unitsUsed(rivals), 98);
    },
  "the same refund by all processes at once is given once": async (rivals) => {
    await grant(rivals, 10);
    const paid = await rivals.first.charges.charge(creditTerms(rivals, 6));
    assert.ok(paid.kind === "charged");
    await everywhere(rivals, 3, ({ charges, clock }) => charges.refund(paid.id, 4, clock.nowMs()));
    assert.equal(await balanceOf(rivals), 8);
  },
  "charges and refunds of one balance across processes end in the sum of the ledger": async (
    rivals,
  ) => {
    await grant(rivals, 1_000);
    await everywhere(rivals, 8, async ({ charges, clock }) => {
      const paid = await charges.charge(creditTerms(rivals, 5));
      assert.ok(paid.kind === "charged");
      await charges.refund(paid.id, 2, clock.nowMs());
    });
    assert.equal(await balanceOf(rivals), 1_000 - PROCESSES * 8 * 3);
  },
  "counts of the same owners flushed by all processes at once all arrive": async (rivals) => {
    const owners = Array.from({ length: 300 }, (_, at) => `bucket:${String(at)}`);
    await everywhere(rivals, 3, ({ usage }, turn) => {
      const mine = turn % 2 === 0 ? owners : owners.toReversed();
      return usage.add(mine.map((owner) => ({ owner, day: 7, units: 1 })));
    });
    for (const owner of ["bucket:0", "bucket:299"]) {
      const { inDay } = await rivals.first.usage.unitsUsed(owner, 7);
      assert.equal(inDay, PROCESSES * 3);
    }
  },
};

/** Enough that a switch happens while they are written. */
const sightingsOf = (mailbox: number, since: number): readonly Sighting[] =>
  Array.from({ length: 100 }, (_, at) => ({
    account_id: "a1",
    since,
    subject: `m${String(mailbox)}`,
    kind: "spelling",
    item: `s${String(at)}`,
    first_ms: 1,
    last_ms: 1,
    count: 0,
  }));

const otherRaces: Readonly<Record<string, Race>> = {
  "of parallel requests with one Idempotency-Key in several processes one is new": async (
    rivals,
  ) => {
    const claim = {
      owner: "account:a1",
      key: "k1",
      bodyHash: "b1",
      nowMs: rivals.first.clock.nowMs(),
      lockMs: 70_000,
    };
    const outcomes = await everywhere(rivals, 3, ({ idempotencyKeys }) =>
      idempotencyKeys.begin(claim),
    );
    assert.equal(outcomes.filter(({ kind }) => kind === "new").length, 1);
    assert.equal(outcomes.filter(({ kind }) => kind === "in_flight").length, 11);
  },
  "each webhook is claimed once, within the limits of all processes together": async (rivals) => {
    const { db } = rivals.first.sql;
    for (let at = 0; at < 9; at += 1) {
      await new Deliveries(db).enqueue(delivery(`d${String(at)}`, "a1"), { waiting: 50 });
    }
    const claimed = await everywhere(rivals, 3, ({ sql }) =>
      new Deliveries(sql.db).claim(2_000, { perAccount: 3, inAll: 6, beyondFirst: 2 }),
    );
    const ids = claimed.flat().map(({ id }) => id);
    assert.deepEqual([ids.length, new Set(ids).size], [3, 3]);
  },
  "the same rules saved by all processes at once all count as changes": async (rivals) => {
    const entries = Array.from({ length: 50 }, (_, at): Rule => ({
      subject: `x${String(at)}.example`,
      word: "deny",
      note: "",
      author: "a1",
      createdAtMs: 1_000,
    }));
    await everywhere(rivals, 2, ({ sql }, turn) =>
      new RuleStore(sql.db).save(turn % 2 === 0 ? entries : entries.toReversed()),
    );
    const stored = new RuleStore(rivals.first.sql.db);
    assert.deepEqual([await stored.changes(), (await stored.all()).length], [PROCESSES * 2, 50]);
  },
  "switching counting off deletes everything, also rows written at the same time": async (
    rivals,
  ) => {
    const { sql, clock } = rivals.first;
    const traffic = new TrafficStore(sql.db, clock);
    const accounts = new Accounts(sql.db);
    const { db } = sql;
    const turn = new AccountSwitches({ accounts, db, clock }).switchTraffic;
    for (let afterMs = 0; afterMs < 10; afterMs += 1) {
      await turn("a1", "on");
      const since = (await accounts.find("a1"))?.trafficSince ?? 0;
      await everywhere(rivals, 1, async (stores, at) => {
        if (stores === rivals.first) await setTimeout(afterMs).then(() => turn("a1", "off"));
        else await new TrafficStore(stores.sql.db, clock).add(sightingsOf(at, since));
      });
      assert.deepEqual(await traffic.ofSubjects("a1", ["m1", "m2", "m3"]), []);
    }
  },
};

/** Races of several connections. `open` empties the database first, `again` does not. */
export function raceContract(name: string, open: OpenAgain, again: OpenAgain): void {
  for (const [sentence, race] of Object.entries({ ...moneyRaces, ...jobRaces, ...otherRaces })) {
    test(`${name}: ${sentence}`, async (t) => {
      const first = await openBulkStores(t, { place: open });
      const others: BulkStores[] = [];
      for (let at = 1; at < PROCESSES; at += 1) {
        const sql = await again(first.clock.nowMs());
        t.after(() => sql.close());
        const own = { clock: first.clock, log: recordingLog(), ids: systemIds };
        others.push({ ...first, ...storesOn(sql, own) });
      }
      await race({ first, all: [first, ...others] });
    });
  }
}
