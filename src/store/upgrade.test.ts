import assert from "node:assert/strict";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { sql } from "kysely";
import { createSecretBox } from "../base/secrets.ts";
import { keptLog } from "../../test/process/kept-log.ts";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";
import { realClock } from "../../test/time/real-clock.ts";
import { until } from "../../test/time/until.ts";
import { openEmbedded } from "./database.ts";
import { openSqlite } from "./embedded/sqlite.ts";
import { type Migration, MIGRATIONS } from "./migrations.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const KEY = new Uint8Array(32).fill(7);

const SEEDS = `
  insert into accounts (id, email, tier, origin, admin, credit_balance, credit_entries, created_at_ms, token_secret)
    values ('ada', 'ada@example.com', 'pro', 'operator', 0, 5, 1, 0, 'open');
  insert into credit_entries values ('ada', 1, 5, 5, 'grant', '', 0)`;

/** A database of today's schema with one account. */
async function seeded(): Promise<string> {
  const dir = temporaryFolder();
  const { db, close } = await openEmbedded(dir, NOW_MS);
  for (const statement of SEEDS.split(";")) await sql.raw(statement).execute(db);
  await close();
  return dir;
}

async function upgraded(t: TestContext, dir: string, steps: readonly Omit<Migration, "name">[]) {
  const log = keptLog();
  const migrations = [
    ...MIGRATIONS,
    ...steps.map((step, at) => ({ name: `later-${String(at)}`, ...step })),
  ];
  const secretKey = () => Promise.resolve(KEY);
  const upgrading = { migrations, told: { log, clock: realClock }, secretKey };
  const opened = await openEmbedded(dir, NOW_MS, { upgrading, busyTimeoutMs: 20 });
  t.after(opened.close);
  return { ...opened, log };
}

const SCHEMA = String(MIGRATIONS.length);
const copies = (dir: string): readonly string[] =>
  readdirSync(dir).filter((name) => name.includes("schema-"));

const REBUILD: Omit<Migration, "name"> = {
  sqlite: `
    create table new_accounts (id text primary key, email text not null, note text not null default '');
    insert into new_accounts (id, email) select id, email from accounts;
    drop table accounts;
    alter table new_accounts rename to accounts;`,
};

test("a table that others refer to is rebuilt, and references count again afterwards", async (t) => {
  const { db } = await upgraded(t, await seeded(), [REBUILD]);
  const rows = await db.selectFrom("credit_entries").select("account_id").execute();
  assert.deepEqual(
    rows.map((row) => row.account_id),
    ["ada"],
  );
  await assert.rejects(sql`delete from accounts`.execute(db), /FOREIGN KEY/);
});

test("steps that leave rows without what they refer to leave nothing behind", async (t) => {
  const dir = await seeded();
  const loses = { sqlite: "delete from accounts;\n" };
  await assert.rejects(
    upgraded(t, dir, [loses]),
    /changed nothing: .* 1 rows without what they refer to, first credit_entries to accounts/,
  );
  const { db } = await upgraded(t, dir, []);
  assert.equal((await db.selectFrom("accounts").select("id").execute()).length, 1);
});

test("a step in code has the secret key, and statements for another engine do not run", async (t) => {
  const seal: Omit<Migration, "name"> = {
    postgres: "not for SQLite;\n",
    async code({ sql: db }, { secretKey }) {
      const box = createSecretBox(await secretKey(db));
      for (const { id, token_secret: secret } of await db
        .selectFrom("accounts")
        .select(["id", "token_secret"])
        .execute()) {
        const sealed = { token_secret: box.seal(secret ?? "", id) };
        await db.updateTable("accounts").set(sealed).where("id", "=", id).execute();
      }
    },
  };
  const { db } = await upgraded(t, await seeded(), [seal]);
  const { token_secret: sealed } = await db
    .selectFrom("accounts")
    .select("token_secret")
    .executeTakeFirstOrThrow();
  assert.equal(createSecretBox(KEY).open(sealed ?? "", "ada"), "open");
});

test("before the first step the file is copied beside itself, and each step is said", async (t) => {
  const dir = await seeded();
  const { log } = await upgraded(t, dir, [REBUILD, {}]);
  const copy = `gatepost.schema-${SCHEMA}.db`;
  assert.deepEqual(copies(dir), [copy]);
  assert.equal(statSync(join(dir, copy)).mode & 0o777, 0o600);
  const old = openSqlite(join(dir, copy));
  assert.equal(old.prepare("select credit_balance as has from accounts").get()?.["has"], 5);
  old.close();
  const step = ["database.step_began", "database.step_done"];
  assert.deepEqual(log.events, ["database.copied", ...step, ...step]);
});

test("a copy that a killed start left half made is replaced, and so is one of the same schema", async (t) => {
  const dir = await seeded();
  for (const end of ["", ".partial"])
    writeFileSync(join(dir, `gatepost.schema-${SCHEMA}.db${end}`), "?");
  await upgraded(t, dir, [{}]);
  assert.deepEqual(copies(dir), [`gatepost.schema-${SCHEMA}.db`]);
  assert.ok(statSync(join(dir, copies(dir)[0] ?? "")).size > 1_000);
});

test("a new database, and one that needs no step, are not copied", async (t) => {
  const dir = temporaryFolder();
  for (const steps of [[{}], [{}]])
    assert.deepEqual((await upgraded(t, dir, steps)).log.events, []);
  assert.deepEqual(copies(dir), []);
});

test("who starts while another one upgrades waits for its end", async (t) => {
  const dir = await seeded();
  const holder = openSqlite(join(dir, "gatepost.db"));
  t.after(() => holder.close());
  holder.exec("begin immediate");
  holder.exec(`insert into schema_migrations values (${SCHEMA} + 1, 'later-0', 0)`);
  const log = keptLog();
  const migrations = [...MIGRATIONS, { name: "later-0", sql: "would fail;\n" }];
  const waiting = { busyTimeoutMs: 1, upgrading: { migrations, told: { log, clock: realClock } } };
  const opening = openEmbedded(dir, NOW_MS, waiting);
  await until(() => log.events.includes("database.upgrade_waiting"));
  holder.exec("commit");
  await (await opening).close();
  assert.deepEqual(copies(dir), []);
});

test("a step that fails is named, and the database stays as it was", async (t) => {
  const dir = await seeded();
  const half = { sql: "create table half (id text);\ncreate table half (id text);\n" };
  await assert.rejects(
    upgraded(t, dir, [half]),
    /failed and changed nothing: migration later-0: table half already exists/,
  );
  const { db } = await upgraded(t, dir, []);
  const tables = await db.introspection.getTables();
  assert.ok(!tables.some(({ name }) => name === "half"));
});
