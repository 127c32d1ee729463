import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "kysely";
import { DatabaseFault, type DatabaseFaultCode, databaseFault } from "./database-fault.ts";
import { openEmbedded } from "./database.ts";
import { MIGRATIONS } from "./migrations.ts";
import { migrate } from "./upgrade.ts";
import { openSqlite } from "./embedded/sqlite.ts";
import { inTransaction } from "./transaction.ts";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

const fault = (code: DatabaseFaultCode) => (error: unknown) =>
  error instanceof DatabaseFault && error.code === code;

test("a missing data directory is made for this user alone, and so is the file", async () => {
  const dir = join(temporaryFolder(), "a", "b");
  const { close } = await openEmbedded(dir, NOW_MS);
  await close();
  assert.equal(statSync(dir).mode & 0o777, 0o700);
  assert.equal(statSync(join(dir, "gatepost.db")).mode & 0o777, 0o600);
});

test("a database that others may read is closed to them", async () => {
  const dir = temporaryFolder();
  await (await openEmbedded(dir, NOW_MS)).close();
  chmodSync(join(dir, "gatepost.db"), 0o644);
  await (await openEmbedded(dir, NOW_MS)).close();
  assert.equal(statSync(join(dir, "gatepost.db")).mode & 0o777, 0o600);
});

test("opening again runs no migration twice and keeps what was written", async (t) => {
  const dir = temporaryFolder();
  const first = await openEmbedded(dir, NOW_MS);
  await first.db.insertInto("usage_days").values(usageRow("bucket:192.0.2.1")).execute();
  await first.close();
  const second = await openEmbedded(dir, NOW_MS);
  t.after(() => second.close());
  assert.deepEqual(await migrate(second.db, NOW_MS), []);
  const rows = await second.db.selectFrom("usage_days").select("owner").execute();
  assert.deepEqual(
    rows.map(({ owner }) => owner),
    ["bucket:192.0.2.1"],
  );
});

test("a second connection of a process keeps the locks of the first", async (t) => {
  const dir = temporaryFolder();
  const { close } = await openEmbedded(dir, NOW_MS);
  t.after(close);
  const inode = `:${String(statSync(join(dir, "gatepost.db")).ino)} `;
  const locks = (): number =>
    readFileSync("/proc/locks", "utf8")
      .split("\n")
      .filter((line) => line.includes(inode)).length;
  assert.equal(locks(), 1);
  // As in the bulk thread of a server.
  const second = await openEmbedded(dir, NOW_MS);
  t.after(() => second.close());
  assert.equal(locks(), 1);
});

test("between two commits the event loop has a round, and writers come in order", async (t) => {
  const { db, close } = await openEmbedded(temporaryFolder(), NOW_MS);
  t.after(close);
  let rounds = 0;
  let isOver = false;
  const round = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(round);
  };
  setImmediate(round);
  const writers = Array.from({ length: 30 }, (_, at) => at);
  const order: number[] = [];
  const seenAt = new Set<number>();
  const write = async (at: number): Promise<void> => {
    await inTransaction(db, async ({ sql: tx }) => {
      order.push(at);
      await tx
        .insertInto("usage_days")
        .values(usageRow(`bucket:${String(at)}`))
        .execute();
      seenAt.add(rounds);
    });
  };
  await Promise.all(writers.map(write));
  isOver = true;
  assert.deepEqual(order, writers);
  assert.equal(seenAt.size, writers.length);
});

test("a schema newer than the program is a clear fault", async () => {
  const dir = temporaryFolder();
  const { db, close } = await openEmbedded(dir, NOW_MS);
  await migrate(db, NOW_MS, { migrations: [...MIGRATIONS, { name: "9999-later", sql: "" }] });
  await close();
  await assert.rejects(openEmbedded(dir, NOW_MS), fault("newer_schema"));
});

test("a database of a version before the first release is refused in words and stays as it is", async () => {
  const dir = temporaryFolder();
  const path = join(dir, "gatepost.db");
  const older = openSqlite(path);
  older.exec(`
    create table schema_migrations (number integer primary key, name text not null, applied_at_ms bigint not null);
    insert into schema_migrations values (1, '0001-accounts', 0), (2, '0002-usage', 0);
    create table accounts (id text primary key);
    insert into accounts values ('ada')`);
  older.close();
  const before = readFileSync(path);
  await assert.rejects(openEmbedded(dir, NOW_MS), (error) => {
    assert.ok(error instanceof DatabaseFault && error.code === "older_schema");
    assert.match(error.message, /nothing in it was changed.*export.*GATEPOST_DATA_DIR/);
    return true;
  });
  assert.deepEqual(readFileSync(path), before);
});

test("a migration that fails leaves nothing behind", async (t) => {
  const { db, close } = await openEmbedded(":memory:", NOW_MS);
  t.after(close);
  const broken = {
    name: "9999-broken",
    sql: "create table half (id text);\ncreate table half (id text);\n",
  };
  await assert.rejects(
    migrate(db, NOW_MS, { migrations: [...MIGRATIONS, broken] }),
    /migration 9999-broken/,
  );
  const tables = await db.introspection.getTables();
  assert.equal(
    tables.some(({ name }) => name === "half"),
    false,
  );
});

test("a database opens while another process writes", async (t) => {
  const dir = temporaryFolder();
  await (await openEmbedded(dir, NOW_MS)).close();
  const holder = openSqlite(join(dir, "gatepost.db"));
  t.after(() => holder.close());
  holder.exec("begin exclusive");
  await (await openEmbedded(dir, NOW_MS, { busyTimeoutMs: 20 })).close();
});

test("a file in the place of the data directory is a clear fault", async () => {
  const path = join(temporaryFolder(), "data");
  writeFileSync(path, "");
  await assert.rejects(openEmbedded(path, NOW_MS), fault("not_a_directory"));
  await assert.rejects(openEmbedded(join(path, "below"), NOW_MS), fault("not_a_directory"));
});

test("a file that is not a database is a clear fault", async () => {
  const dir = temporaryFolder();
  writeFileSync(join(dir, "gatepost.db"), "not a database at all ".repeat(100));
  await assert.rejects(openEmbedded(dir, NOW_MS), fault("not_a_database"));
  rmSync(join(dir, "gatepost.db"));
  mkdirSync(join(dir, "gatepost.db"));
  await assert.rejects(openEmbedded(dir, NOW_MS), fault("not_a_database"));
});

for (const [name, error, code] of [
  ["a full disk, as SQLite says it", { errcode: 13 }, "full"],
  ["a full disk, as the system says it", { code: "ENOSPC" }, "full"],
  ["a directory of another user", { code: "EACCES" }, "unwritable"],
  ["a read-only file system", { code: "EROFS" }, "unwritable"],
  ["a file that became read-only, by an extended code", { errcode: 1032 }, "unwritable"],
  ["a lock, by an extended code", { errcode: 517 }, "locked"],
  ["something unheard of", new Error("odd"), "unusable"],
] as const) {
  test(`${name} is named`, () => {
    const made = databaseFault("/data", error);
    assert.equal(made.code, code);
    assert.match(made.message, /^data directory \/data: /);
    assert.equal(made.cause, error);
  });
}

test("the fault that made SQLite undo a transaction by itself is not hidden", async (t) => {
  const { db, close } = await openEmbedded(":memory:", NOW_MS);
  t.after(close);
  const full = Object.assign(new Error("database or disk is full"), { errcode: 13 });
  const attempt = inTransaction(db, async (tx) => {
    await sql`rollback`.execute(tx.sql); // as SQLite does on a full disk
    throw full;
  });
  await assert.rejects(attempt, full);
  await inTransaction(db, (tx) => tx.sql.selectFrom("accounts").select("id").execute());
});

const usageRow = (owner: string) => ({
  owner,
  day: 20_777,
  units: 1,
  credits: 0,
  requests: 0,
  refusals: 0,
});

test("of a transaction that is abandoned or fails nothing stays", async (t) => {
  const { db, close } = await openEmbedded(":memory:", NOW_MS);
  t.after(close);
  const attempt = (owner: string, end: "commit" | "abandon" | "throw") =>
    inTransaction(db, async (tx) => {
      await tx.sql.insertInto("usage_days").values(usageRow(owner)).execute();
      if (end === "throw") throw new Error("broken");
      if (end === "abandon") tx.abandon();
      return owner;
    });
  assert.equal(await attempt("one", "commit"), "one");
  assert.equal(await attempt("two", "abandon"), "two");
  await assert.rejects(attempt("three", "throw"), /broken/);
  const rows = await db.selectFrom("usage_days").select("owner").execute();
  assert.deepEqual(
    rows.map(({ owner }) => owner),
    ["one"],
  );
});

test("the file shrinks when what it held is deleted", async () => {
  const dir = temporaryFolder();
  const { db, shrink, close } = await openEmbedded(dir, NOW_MS);
  const sizeBytes = (): number => statSync(join(dir, "gatepost.db")).size;
  await sql`create table big (text text)`.execute(db);
  await sql`insert into big values (${"x".repeat(6_000_000)})`.execute(db);
  await sql`delete from big`.execute(db);
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  const before = sizeBytes();
  shrink?.();
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  assert.ok(sizeBytes() < before - 5_000_000, `${String(before)} to ${String(sizeBytes())}`);
  await close();
});
