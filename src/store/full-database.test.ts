import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { sql } from "kysely";
import { databaseFault } from "./database-fault.ts";
import { openEmbedded } from "./database.ts";
import type { Db } from "./schema.ts";
import { openSqlite } from "./embedded/sqlite.ts";
import { inTransaction } from "./transaction.ts";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

test("a full database does not answer until it has room again", async (t) => {
  const { db, answers, close } = await openEmbedded(temporaryFolder(), NOW_MS);
  t.after(close);
  assert.equal(await answers(), true);
  await sql`pragma max_page_count = 1`.execute(db); // SQLite raises it to the pages in use
  const fill = async (): Promise<void> => {
    for (let at = 0; ; at += 1) {
      const row = { name: `filler ${String(at)}`, value: "x".repeat(200) };
      await db.insertInto("installation").values(row).execute();
    }
  };
  await assert.rejects(fill(), /full/);
  assert.equal(await answers(), false);
  await sql`pragma max_page_count = 100000`.execute(db);
  assert.equal(await answers(), true);
  const left = await db.selectFrom("installation").select("name").execute();
  assert.ok(!left.some(({ name }) => name === "write_probe"));
});

for (const [name, write] of [
  [
    "a transaction",
    (db: Db) =>
      inTransaction(db, ({ sql: own }) => sql`insert into notes values ('a')`.execute(own)),
  ],
  [
    "a statement that returns rows",
    (db: Db) => sql`insert into notes values ('a') returning note`.execute(db),
  ],
] as const) {
  test(`while another thread writes, ${name} waits and its event loop goes on`, async (t) => {
    const dir = temporaryFolder();
    const { db, close } = await openEmbedded(dir, NOW_MS);
    t.after(close);
    await sql`create table notes (note text)`.execute(db);
    const holder = openSqlite(join(dir, "gatepost.db"));
    t.after(() => holder.close());
    holder.exec("begin immediate");
    let isWritten = false;
    const writing = write(db).then(() => (isWritten = true));
    for (let rounds = 0; rounds < 50; rounds += 1) await nextRound();
    assert.equal(isWritten, false);
    holder.exec("commit");
    await writing;
    const { rows } = await sql<{ note: string }>`select note from notes`.execute(db);
    assert.deepEqual(
      rows.map(({ note }) => note),
      ["a"],
    );
  });
}

test("a full database is named when a statement returns rows, too", async (t) => {
  const { db, close } = await openEmbedded(":memory:", NOW_MS);
  t.after(close);
  await sql`create table notes (note text)`.execute(db);
  await sql`pragma max_page_count = 1`.execute(db); // what it has already
  const writing = sql`insert into notes values (${"a".repeat(100_000)}) returning note`.execute(db);
  await assert.rejects(writing, (error) => databaseFault("/data", error).code === "full");
});
