import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AccountList,
  changeList,
  findList,
  forgetList,
  keepList,
  packFile,
  partOf,
  listsOfAccount,
  pruneLists,
  runsOf,
} from "../../../src/bulk/list-store.ts";
import { SESSION_LIFE_MS } from "../../../src/bulk/batches-store.ts";
import { accept, allValid, type BulkStores, claim, newJob, takeCompleted } from "./bulk-stores.ts";
import { unpackOctets } from "../../../src/store/rows.ts";
import type { Make } from "../contract.ts";
import { type Rule } from "./chunk-queue.ts";

/** The contract of stored lists, and of a check that is ended early. */
export function listsContract(name: string, make: Make<BulkStores>): void {
  const rule: Rule = (sentence, check) => {
    test(`${name}: ${sentence}`, async (t) => check(await make(t)));
  };
  const newList = ({ ids, clock }: BulkStores, more: Partial<AccountList> = {}): AccountList => ({
    id: ids.hex32(),
    accountId: "a1",
    name: "Лист.csv",
    rows: 3,
    choice: { column: "column 2" },
    fixes: new Set(["jo@gmial.com"]),
    runs: [],
    version: 0,
    createdAtMs: clock.nowMs(),
    expiresAtMs: clock.nowMs() + SESSION_LIFE_MS,
    ...more,
  });
  const FILE = [new Uint8Array(300_000).fill(97), new Uint8Array([98, 0, 255])];

  rule("a list comes back as it was stored, for its account alone", async (stores) => {
    const { db } = stores.sql;
    const list = newList(stores);
    assert.equal(await keepList(db, list, await packFile(FILE)), "kept");
    assert.deepEqual(await findList(db, "a1", list.id), list);
    assert.equal(await findList(db, "a2", list.id), undefined);
    const parts: Uint8Array[] = [];
    for (let number = 0; ; number += 1) {
      const part = await partOf(db, list, number);
      if (part === undefined) break;
      parts.push(await unpackOctets(part));
    }
    assert.deepEqual(Buffer.concat(parts), Buffer.concat(FILE));
  });

  rule("of two changes of one reading the second is told", async (stores) => {
    const { db } = stores.sql;
    const list = newList(stores);
    await keepList(db, list, await packFile(FILE));
    const both = await Promise.all([
      changeList(db, list, { runs: ["s1"] }),
      changeList(db, list, { runs: ["s2"] }),
    ]);
    assert.deepEqual(both.sort(), [false, true]);
  });

  rule(
    "a list that is deleted is gone at once, and its rows with the next look",
    async (stores) => {
      const { db } = stores.sql;
      const list = newList(stores);
      await keepList(db, list, await packFile(FILE));
      await forgetList(db, list.id);
      assert.deepEqual(await listsOfAccount(db, "a1"), []);
      assert.equal(await pruneLists(db, stores.clock.nowMs()), 1);
      assert.deepEqual(await db.selectFrom("account_lists").selectAll().execute(), []);
    },
  );

  rule("a check that is ended gives back what has not begun and keeps the rest", async (stores) => {
    const { sql, clock, jobs, chunks } = stores;
    const session = await accept(stores, newJob(stores, 1_200));
    const chunk = await claim(stores);
    assert.equal(await jobs.stop(session, clock.nowMs()), true);
    assert.equal(await stores.unitsUsed(), 500);
    const done = { nowMs: clock.nowMs(), conclusive: true };
    assert.equal(await chunks.complete(chunk, allValid(500), done), "finished");
    const list = newList(stores, { runs: [session, "never"] });
    const [run, ...others] = (await runsOf(sql.db, [list]))(list);
    assert.equal(others.length, 0);
    assert.deepEqual(
      [run?.state, run?.isRunning, run?.charged, run?.processed],
      ["stopped", false, 500, 500],
    );
    assert.equal((await stores.sessions.checked(session, 0))?.length, 500);
    assert.equal(await jobs.stop(session, clock.nowMs()), false);
    assert.equal(await takeCompleted(stores), undefined);
  });
}
