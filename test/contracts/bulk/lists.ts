import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AccountList,
  changeStoredList,
  findList,
  forgetList,
  historyOf,
  keepList,
  LISTS,
  packFile,
  partOf,
  listsOfAccount,
  pruneLists,
  runsOf,
} from "../../../src/bulk/lists/list-store.ts";
import { createOctetBox } from "../../../src/base/secrets.ts";
import { SESSION_LIFE_MS } from "../../../src/bulk/jobs/pack-batch.ts";
import { accept, allValid, type BulkStores, claim, newJob, takeCompleted } from "./bulk-stores.ts";
import { unpackOctets } from "../../../src/store/pack.ts";
import type { Make } from "../contract.ts";
import { type Rule } from "./chunk-queue.ts";

const box = createOctetBox(new Uint8Array(32).fill(7), LISTS);

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
    assert.equal(await keepList({ db, box }, list, await packFile(FILE)), "kept");
    assert.deepEqual(await findList({ db, box }, "a1", list.id), list);
    assert.equal(await findList({ db, box }, "a2", list.id), undefined);
    const parts: Uint8Array[] = [];
    for (let number = 0; ; number += 1) {
      const part = await partOf({ db, box }, list, number);
      if (part === undefined) break;
      parts.push(await unpackOctets(part));
    }
    assert.deepEqual(Buffer.concat(parts), Buffer.concat(FILE));
  });

  rule("neither an address nor a piece of the file is stored in clear", async (stores) => {
    const { db } = stores.sql;
    const list = newList(stores);
    const text = "jo@gmial.com,Jo Doe\n".repeat(50);
    await keepList({ db, box }, list, await packFile([Buffer.from(text)]));
    const rows = [
      ...(await db.selectFrom("account_lists").select("fixes as octets").execute()),
      ...(await db.selectFrom("account_list_parts").select("content as octets").execute()),
    ];
    assert.equal(rows.length, 2);
    for (const { octets } of rows) {
      assert.ok(!Buffer.from(octets).toString("latin1").includes("gmial"));
      // Sealed octets that can be unpacked by chance give something else.
      const unpacked = await unpackOctets(octets).then(String, () => "");
      assert.ok(!unpacked.includes("gmial"), "it is not merely compressed");
    }
    const other = { db, box: createOctetBox(new Uint8Array(32).fill(8), LISTS) };
    await assert.rejects(findList(other, "a1", list.id));
    const part = await partOf({ db, box }, list, 0);
    assert.equal((await unpackOctets(part ?? new Uint8Array())).toString(), text);
  });

  rule("of two changes of one reading the second is told", async (stores) => {
    const { db } = stores.sql;
    const list = newList(stores);
    await keepList({ db, box }, list, await packFile(FILE));
    const both = await Promise.all([
      changeStoredList({ db, box }, list, { runs: ["s1"] }),
      changeStoredList({ db, box }, list, { runs: ["s2"] }),
    ]);
    assert.deepEqual(both.sort(), [false, true]);
  });

  rule(
    "a list that is deleted is gone at once, and its rows with the next look",
    async (stores) => {
      const { db } = stores.sql;
      const list = newList(stores);
      await keepList({ db, box }, list, await packFile(FILE));
      await forgetList(db, list.id);
      await forgetList(db, list.id);
      assert.deepEqual(await listsOfAccount({ db, box }, "a1"), []);
      assert.equal(await pruneLists(db, stores.clock.nowMs()), 1);
      assert.deepEqual(await db.selectFrom("account_lists").selectAll().execute(), []);
      assert.deepEqual(
        (await historyOf(db, "a1", 10)).map(({ name, row_count }) => [name, row_count]),
        [["Лист.csv", 3]],
      );
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
