import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { sql } from "kysely";
import { temporaryFolder } from "../../../test/process/temporary-folder.ts";
import { StoreDown } from "../../base/store-down.ts";
import { DatabaseFault } from "../database-fault.ts";
import { openEmbedded, type SqlDatabase } from "../database.ts";
import { lockForServing } from "./serving-lock.ts";
import { openSqlite } from "./sqlite.ts";

const PAGE = 4_096;

async function opened(t: TestContext) {
  const folder = temporaryFolder();
  const store = await openEmbedded(folder, 0, { busyTimeoutMs: 20 });
  t.after(store.close);
  for (let at = 0; at < 500; at += 1) await insert(store, `fact ${String(at)}`);
  await sql`pragma wal_checkpoint(truncate)`.execute(store.db);
  const ails = (): ReturnType<NonNullable<SqlDatabase["ails"]>> =>
    store.ails?.() ?? assert.fail("it cannot say");
  return { folder, file: join(folder, "gatepost.db"), store, ails };
}

const insert = ({ db }: SqlDatabase, name: string): Promise<unknown> =>
  db
    .insertInto("registrations")
    .values({ domain: name, registered_at_ms: 1, expires_at_ms: 1 })
    .execute();

const all = ({ db }: SqlDatabase): Promise<readonly object[]> =>
  db.selectFrom("registrations").selectAll().execute();

test("a database whose file is moved away takes no writes until it is back", async (t) => {
  const { file, store, ails } = await opened(t);
  renameSync(file, `${file}.away`);
  assert.equal(await ails(), "gone");
  await assert.rejects(insert(store, "later"), StoreDown);
  assert.equal((await all(store)).length, 500);
  writeFileSync(file, "");
  assert.equal(await ails(), "gone", "another file is not this one");
  renameSync(`${file}.away`, file);
  assert.equal(await ails(), undefined);
  await insert(store, "later");
});

test("a database without its log takes no writes: they would be lost", async (t) => {
  const { file, store, ails } = await opened(t);
  assert.equal(await ails(), undefined);
  rmSync(`${file}-wal`);
  assert.equal(await ails(), "gone");
  await assert.rejects(insert(store, "later"), StoreDown);
});

test("a thread finds the file that its process opened, and makes none", async (t) => {
  const { folder, file, store } = await opened(t);
  const { disk } = store;
  const known = { disk, file: store.file, schema: "look" } as const;
  await (await openEmbedded(folder, 0, known)).close();
  for (const name of readdirSync(folder))
    if (name.startsWith("gatepost.db")) rmSync(join(folder, name));
  await assert.rejects(openEmbedded(folder, 0, known), /was deleted/);
  assert.equal(existsSync(file), false);
});

test("a command makes no database where a server runs", async (t) => {
  const { folder, file } = await opened(t);
  t.after(lockForServing(folder));
  for (const name of readdirSync(folder))
    if (name.startsWith("gatepost.db")) rmSync(join(folder, name));
  const creating = openEmbedded(folder, 0, { schema: "create" });
  await assert.rejects(
    creating,
    (fault: unknown) => fault instanceof DatabaseFault && fault.code === "locked",
  );
  assert.equal(existsSync(file), false);
});

for (const left of ["secret.key", "last-backup", "gatepost.schema-3.db", "gatepost.db-wal"]) {
  test(`no database is made beside ${left}`, async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, left), "x");
    const opening = openEmbedded(folder, 0);
    await assert.rejects(
      opening,
      (fault: unknown) =>
        fault instanceof DatabaseFault &&
        fault.code === "no_database" &&
        fault.message.includes(`${left} is there, but gatepost.db is missing or empty`),
    );
    assert.deepEqual(readdirSync(folder), [left]);
  });
}

test("damaged pages are the store's being away, told until they are whole again", async (t) => {
  const { file, store, ails } = await opened(t);
  await sql`pragma shrink_memory`.execute(store.db);
  const whole = readFileSync(file);
  writeFileSync(file, Buffer.concat([whole.subarray(0, PAGE), Buffer.alloc(whole.length - PAGE)]), {
    flag: "r+",
  });
  await assert.rejects(all(store), StoreDown);
  assert.equal(await ails(), "damaged");
  assert.equal(await ails(), "damaged", "it is told as long as it lasts");
  writeFileSync(file, whole, { flag: "r+" });
  assert.equal(await ails(), undefined);
  assert.equal((await all(store)).length, 500);
});

test("one damaged table is told although the others take writes", async (t) => {
  const { file, store, ails } = await opened(t);
  await sql`pragma shrink_memory`.execute(store.db);
  const { rows } = await sql<{ page: number }>`
    select rootpage as page from sqlite_schema where name = 'registrations'`.execute(store.db);
  const at = ((rows[0]?.page ?? assert.fail()) - 1) * PAGE;
  const whole = readFileSync(file);
  const spoilt = Buffer.from(whole);
  spoilt.fill(0xff, at, at + PAGE);
  writeFileSync(file, spoilt, { flag: "r+" });
  assert.equal(await ails(), undefined, "nobody met it yet");
  await assert.rejects(all(store), StoreDown);
  assert.equal(await ails(), "damaged");
  writeFileSync(file, whole, { flag: "r+" });
  assert.equal(await ails(), undefined);
});

test("a database that another program holds is the store's being away", async (t) => {
  const { file, store, ails } = await opened(t);
  const holder = openSqlite(file);
  t.after(() => holder.close());
  holder.exec("begin exclusive");
  await assert.rejects(insert(store, "later"), StoreDown);
  assert.equal(await ails(), "silent");
  holder.exec("rollback");
  assert.equal(await ails(), undefined);
});
