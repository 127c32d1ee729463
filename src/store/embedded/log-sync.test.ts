import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Kysely, sql } from "kysely";
import { StoreDown } from "../../base/store-down.ts";
import { openEmbedded } from "../database.ts";
import { type LogSync, logSync, newDisk } from "./log-sync.ts";
import { openSqlite, sqliteDialect } from "./sqlite.ts";
import { inTransaction } from "../transaction.ts";
import { temporaryFolder } from "../../../test/process/temporary-folder.ts";

const rounds = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A disk whose syncs end when the test says so. */
function slowDisk(): {
  readonly sync: () => Promise<void>;
  readonly open: (() => void)[];
  readonly refuse: () => void;
} {
  const open: (() => void)[] = [];
  let isRefusing = false;
  const sync = (): Promise<void> =>
    new Promise((resolve, reject) => {
      open.push(() => (isRefusing ? reject(new Error("EIO")) : resolve()));
    });
  return { sync, open, refuse: () => void (isRefusing = true) };
}

function emptyFile(): string {
  const folder = temporaryFolder();
  const file = join(folder, "log");
  writeFileSync(file, "");
  return file;
}

test("calls that come while the disk works share its next round", async () => {
  const disk = slowDisk();
  const log = logSync(emptyFile(), { sync: disk.sync });
  const ended: string[] = [];
  const ask = (name: string): void => void log.synced().then(() => ended.push(name));
  ask("first");
  for (const name of ["second", "third"]) ask(name);
  await rounds();
  assert.equal(disk.open.length, 1);
  disk.open[0]?.();
  await rounds();
  assert.deepEqual([ended, disk.open.length], [["first"], 2]);
  ask("fourth");
  disk.open[1]?.();
  await rounds();
  assert.deepEqual([ended, disk.open.length], [["first", "second", "third"], 3]);
  const closed = log.close();
  disk.open[2]?.();
  await closed;
  assert.deepEqual(ended, ["first", "second", "third", "fourth"]);
});

test("after a refusal the disk is believed no more", async () => {
  const disk = slowDisk();
  const log = logSync(emptyFile(), { sync: disk.sync });
  const [first, second] = [log.synced(), log.synced()];
  assert.equal(log.refusal(), undefined);
  disk.refuse();
  disk.open[0]?.();
  await assert.rejects(first, /EIO/);
  await assert.rejects(second, /EIO/);
  await assert.rejects(log.synced(), /EIO/);
  assert.equal(disk.open.length, 1);
  assert.match(String(log.refusal()), /EIO/);
  await log.close();
});

test("what one thread was refused holds for all that have the database open", async (t) => {
  const folder = temporaryFolder();
  const first = await openEmbedded(folder, 0);
  t.after(first.close);
  const { disk } = first;
  const second = await openEmbedded(folder, 0, { waitsForDisk: false, disk });
  t.after(second.close);
  const write = ({ db }: typeof first, name: string) =>
    db.insertInto("installation").values({ name, value: "b" }).execute();
  await write(second, "before");
  logSync(emptyFile(), { disk: disk ?? newDisk() }).refuse(new Error("EIO"));
  for (const each of [first, second]) {
    await assert.rejects(write(each, "after"), StoreDown);
    await assert.rejects(sql`pragma wal_checkpoint(passive)`.execute(each.db), StoreDown);
    assert.equal(await each.ails?.(), "refused");
  }
});

test("a log that is not there is told, too", async () => {
  await assert.rejects(logSync(join(tmpdir(), "gatepost-none", "log")).synced(), /ENOENT/);
});

const FINE = {
  refusal: () => undefined,
  refuse: () => undefined,
  isGone: () => false,
  noteGone: () => undefined,
  close: () => Promise.resolve(),
};

type Numbers = Kysely<{ numbers: { value: number } }>;

/** A database whose writes wait for `log`. */
async function numbers(t: TestContext, log: LogSync): Promise<Numbers> {
  const db: Numbers = new Kysely({ dialect: sqliteDialect(openSqlite(":memory:"), { log }) });
  t.after(() => db.destroy());
  await sql`create table numbers (value integer)`.execute(db);
  return db;
}

const add = (db: Numbers, value = 1): Promise<unknown> =>
  db.insertInto("numbers").values({ value }).execute();
const all = (db: Numbers): Promise<unknown[]> => db.selectFrom("numbers").selectAll().execute();
// Transactions of the adapters know the program's tables alone.
type Tables = Parameters<typeof inTransaction>[0];
const within = (db: Numbers, work: (db: Numbers) => Promise<unknown>) =>
  inTransaction(db as unknown as Tables, ({ sql: own }) => work(own as unknown as Numbers));

const WAITS: readonly (readonly [
  what: string,
  act: (db: Numbers) => Promise<unknown>,
  n: number,
])[] = [
  ["a read", all, 0],
  ["a write", (db) => add(db), 1],
  ["a change by a statement of our own", (db) => sql`update numbers set value = 2`.execute(db), 1],
  ["a transaction that reads", (db) => within(db, all), 0],
  ["a transaction of two writes", (db) => within(db, (own) => add(own).then(() => add(own))), 1],
  [
    "a transaction that is undone",
    (db) =>
      within(db, (own) => add(own).then(() => Promise.reject(new Error("no")))).catch(() => []),
    0,
  ],
];

for (const [what, act, count] of WAITS) {
  test(`${what} waits for the disk ${count === 0 ? "never" : "once"}`, async (t) => {
    let asked = 0;
    const synced = (): Promise<void> => Promise.resolve(void (asked += 1));
    const db = await numbers(t, { ...FINE, synced });
    asked = 0;
    await act(db);
    assert.equal(asked, count);
  });
}

test("others read and write while a transaction waits for the disk", async (t) => {
  const disk = slowDisk();
  const log = logSync(emptyFile(), { sync: disk.sync });
  let isReady = false;
  const synced = (): Promise<void> => (isReady ? log.synced() : Promise.resolve());
  const db = await numbers(t, { ...log, synced });
  isReady = true;
  const told: string[] = [];
  const first = within(db, (own) => add(own, 1)).then(() => told.push("first"));
  await rounds();
  const second = within(db, (own) => add(own, 2)).then(() => told.push("second"));
  await rounds();
  assert.equal((await all(db)).length, 2);
  assert.deepEqual(told, []);
  disk.open[0]?.();
  await first;
  assert.deepEqual(told, ["first"]);
  disk.open[1]?.();
  await second;
});

test("after a commit that the disk refuses nothing is written, and everything is read", async (t) => {
  const log = logSync(emptyFile(), { sync: () => Promise.reject(new Error("EIO")) });
  let isReady = false;
  const synced = (): Promise<void> => (isReady ? log.synced() : Promise.resolve());
  const db = await numbers(t, { ...log, synced });
  isReady = true;
  await assert.rejects(
    within(db, (own) => add(own, 1)),
    StoreDown,
  );
  await assert.rejects(add(db, 2), StoreDown);
  await assert.rejects(
    within(db, (own) => add(own, 3)),
    StoreDown,
  );
  assert.equal((await all(db)).length, 1);
});

test("an embedded database in a folder has its log on the disk when a write ends", async () => {
  const folder = temporaryFolder();
  const { db, close } = await openEmbedded(folder, 0);
  await db.insertInto("installation").values({ name: "a", value: "b" }).execute();
  await close();
  const again = await openEmbedded(folder, 0);
  const rows = await again.db.selectFrom("installation").select("value").execute();
  await again.close();
  assert.ok(rows.some(({ value }) => value === "b"));
});
