import { strict as assert } from "node:assert";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { sql } from "kysely";
import { keptLog } from "../../test/process/kept-log.ts";
import { realClock } from "../../test/time/real-clock.ts";
import { until } from "../../test/time/until.ts";
import { openPatiently, PATIENT, withPostgres } from "../../test/services/with-postgres.ts";
import { freePort } from "../../test/services/free-port.ts";
import { StoreDown } from "../base/store-down.ts";
import { DatabaseFault, type DatabaseFaultCode } from "./database-fault.ts";
import { MIGRATIONS } from "./migrations.ts";
import { migrate } from "./upgrade.ts";
import { openPostgres, type PostgresDatabase } from "./postgres-database.ts";
import { isCrowded, sqlState } from "./postgres-fault.ts";
import type { PostgresLimits } from "./postgres-pool.ts";
import { inTransaction } from "./transaction.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const PASSWORD = "hunter-two";

/** The fault's code; its whole chain of causes must keep the password to itself. */
async function faultOf(opening: Promise<unknown>): Promise<DatabaseFaultCode> {
  const fault: unknown = await opening.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(fault instanceof DatabaseFault);
  for (let one: unknown = fault; one instanceof Error; one = one.cause) {
    const shown = `${JSON.stringify(one, Object.getOwnPropertyNames(one))} ${String(one.stack)}`;
    assert.equal(shown.includes(PASSWORD), false, shown);
  }
  return fault.code;
}

for (const [name, url] of [
  ["no URL", `hunter-two`],
  ["a URL of something else", `mysql://a:${PASSWORD}@127.0.0.1/b`],
  ["a URL that cannot be read", `postgres://a:${PASSWORD}@[::1/b`],
] as const) {
  test(`${name} is a clear fault`, async () => {
    assert.equal(await faultOf(openPostgres(url, NOW_MS)), "unusable");
  });
}

test("a port without a listener is a clear fault", async () => {
  const url = `postgres://a:${PASSWORD}@127.0.0.1:${String(await freePort())}/b`;
  const opening = openPostgres(url, NOW_MS, PATIENT);
  assert.equal(await faultOf(opening), "unreachable");
  await assert.rejects(opening, /: it does not answer \(connect ECONNREFUSED [^)]+\)$/);
});

test("a pooler that refuses what is asked of a session is a clear fault in its own words", async (t) => {
  const refusal = "SFATAL\0C08P01\0Munsupported startup parameter: options\0\0";
  const head = Buffer.from("E\0\0\0\0");
  head.writeUInt32BE(4 + refusal.length, 1);
  const pooler = createServer((socket) => {
    socket
      .on("error", () => undefined)
      .once("data", () => {
        socket.end(Buffer.concat([head, Buffer.from(refusal)]));
      });
  });
  const port = await freePort();
  pooler.listen(port, "127.0.0.1");
  t.after(() => pooler.close());
  const url = `postgres://a:${PASSWORD}@127.0.0.1:${String(port)}/b`;
  const opening = openPostgres(url, NOW_MS, PATIENT);
  assert.equal(await faultOf(opening), "unusable");
  await assert.rejects(
    opening,
    /a connection pooler .*\(unsupported startup parameter: options\)$/,
  );
});

test("a server that says nothing is a clear fault in time", async (t) => {
  const sockets = new Set<Socket>();
  const mute = createServer((socket) => void sockets.add(socket.on("error", () => undefined)));
  const port = await freePort();
  mute.listen(port, "127.0.0.1");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    mute.close();
  });
  const url = `postgres://a:${PASSWORD}@127.0.0.1:${String(port)}/b`;
  assert.equal(await faultOf(openPostgres(url, NOW_MS, { connectTimeoutMs: 50 })), "unreachable");
});

withPostgres("opening a PostgreSQL database", ({ server, database, open }) => {
  test("of eight that start at once on an empty database one migrates", async () => {
    const url = await server().createDatabase();
    const opened = await Promise.all(Array.from({ length: 8 }, () => openPatiently(url, NOW_MS)));
    try {
      const [first] = opened;
      const rows = await first?.db.selectFrom("schema_migrations").select("number").execute();
      assert.equal(rows?.length, MIGRATIONS.length);
      for (const { answers } of opened) assert.equal(await answers(), true);
    } finally {
      await Promise.all(opened.map(({ close }) => close()));
    }
  });

  test("a database that takes no writes is not there", async () => {
    const url = await database();
    const name = new URL(url).pathname.slice(1);
    const { answers, close } = await openPatiently(url, NOW_MS);
    const setReadOnly = async (isOn: boolean): Promise<void> => {
      const word = isOn ? "on" : "off";
      await server().run(`alter database ${name} set default_transaction_read_only = ${word}`);
      // A session keeps what it began with.
      await server().run(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      );
    };
    /** A session that was ended is found out by one question. */
    const settled = async (): Promise<boolean> => (await answers()) || answers();
    try {
      assert.equal(await answers(), true);
      await setReadOnly(true);
      assert.equal(await settled(), false);
      await setReadOnly(false);
      assert.equal(await settled(), true);
    } finally {
      await close();
    }
  });

  test("a step waits for a table in use, and those who come later do not wait for the step", async () => {
    const url = await database();
    const { db, close } = await openPatiently(url, NOW_MS);
    const log = keptLog();
    const step = { name: "9999-later", postgres: "alter table hooks add column later text;\n" };
    const told = { log, clock: realClock };
    const migrations = [...MIGRATIONS, step];
    let upgraded: Promise<PostgresDatabase> | undefined;
    await inTransaction(db, async (tx) => {
      await tx.sql.selectFrom("hooks").select("id").execute();
      upgraded = openPostgres(url, NOW_MS, { ...PATIENT, upgrading: { migrations, told } });
      await until(() => log.events.includes("database.upgrade_waiting"));
      await db.selectFrom("hooks").select("id").execute();
    });
    await (await upgraded)?.close();
    assert.deepEqual(log.events.slice(-2), ["database.step_began", "database.step_done"]);
    await sql`select later from hooks`.execute(db);
    await close();
  });

  test("a schema newer than the program is a clear fault", async () => {
    const url = await database();
    const { db, close } = await openPatiently(url, NOW_MS);
    await migrate(db, NOW_MS, { migrations: [...MIGRATIONS, { name: "9999-later", sql: "" }] });
    await close();
    assert.equal(await faultOf(openPatiently(url, NOW_MS)), "newer_schema");
  });

  test("a database of a version before the first release is refused and stays as it is", async () => {
    const url = await database();
    const { db, close } = await openPatiently(url, NOW_MS);
    await db.deleteFrom("schema_migrations").execute();
    const row = { number: 1, name: "0001-accounts", applied_at_ms: 1 };
    await db.insertInto("schema_migrations").values(row).execute();
    assert.equal(await faultOf(openPatiently(url, NOW_MS)), "older_schema");
    const rows = await db.selectFrom("schema_migrations").selectAll().execute();
    assert.deepEqual(rows, [row]);
    await close();
  });

  test("a database that is not there is a clear fault", async () => {
    const url = `postgres://gatepost:${PASSWORD}@127.0.0.1:${String(server().port)}/nothing`;
    assert.equal(await faultOf(openPatiently(url, NOW_MS)), "no_database");
  });

  test("a server that is too old is a clear fault", async () => {
    const url = await server().createDatabase();
    const { Client } = (await import("pg")).default;
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`create schema old; create function old.current_setting(text) returns text
      language sql as $$ select case $1 when 'server_version' then '14.9' else '140009' end $$`);
    const name = new URL(url).pathname.slice(1);
    await client.query(`alter database ${name} set search_path = old, pg_catalog, public`);
    await client.end();
    const opening = openPatiently(url, NOW_MS);
    assert.equal(await faultOf(opening), "too_old");
    await assert.rejects(opening, /version 14\.9 is too old, 15 or newer is needed/);
  });

  for (const encoding of ["LATIN1", "SQL_ASCII"]) {
    test(`a database in ${encoding} is a clear fault before anything is written`, async () => {
      const name = `encoded_${encoding.toLowerCase()}`;
      const how = `template template0 encoding '${encoding}' lc_collate 'C' lc_ctype 'C'`;
      await server().run(`create database ${name} ${how}`);
      const url = `postgres://gatepost@127.0.0.1:${String(server().port)}/${name}`;
      const opening = openPostgres(url, NOW_MS, PATIENT);
      assert.equal(await faultOf(opening), "unusable");
      await assert.rejects(opening, new RegExp(`its encoding is ${encoding}, UTF8 is needed$`));
    });
  }

  test("a user who may not come in is a clear fault", async () => {
    const url = `postgres://nobody:${PASSWORD}@127.0.0.1:${String(server().port)}/postgres`;
    assert.equal(await faultOf(openPatiently(url, NOW_MS)), "denied");
  });

  test("sslmode decides between servers with and without TLS", async () => {
    const url = `${await database()}?sslmode=verify-full`;
    assert.equal(await faultOf(openPatiently(url, NOW_MS)), "denied");
    await assert.rejects(openPatiently(url, NOW_MS), /it offers no TLS, which sslmode/);
    await (await openPatiently(url.replace("verify-full", "disable"), NOW_MS)).close();
  });

  test("a server that demands TLS is named for that, not for the user", async () => {
    const url = await database();
    const words = 'no pg_hba.conf entry for host "127.0.0.1", user "gatepost", no encryption';
    const refusing = createServer((socket) => {
      const body = Buffer.from(`SFATAL\0C28000\0M${words}\0\0`);
      const head = Buffer.from("E\0\0\0\0");
      head.writeUInt32BE(4 + body.length, 1);
      socket
        .on("error", () => undefined)
        .once("data", () => socket.end(Buffer.concat([head, body])));
    });
    const port = await freePort();
    refusing.listen(port, "127.0.0.1");
    const there = new URL(url);
    there.port = String(port);
    const opening = openPatiently(there.href, NOW_MS);
    assert.equal(await faultOf(opening), "denied");
    await assert.rejects(opening, /it lets nobody in without TLS: add sslmode=verify-full/);
    refusing.close();
  });

  test("a role that may not make tables opens a database that has them, and no other", async () => {
    const name = `clerk_${String(Date.now())}`;
    await server().run(`create role ${name} login`);
    const url = await database();
    const { db, close } = await openPatiently(url, NOW_MS);
    const { sql } = await import("kysely");
    await sql
      .raw(`grant select, insert, update, delete on all tables in schema public to ${name}`)
      .execute(db);
    await close();
    const own = (there: string): string => there.replace("gatepost@", `${name}@`);
    const opened = await openPatiently(own(url), NOW_MS);
    assert.equal(await opened.answers(), true);
    await opened.close();
    const empty = await server().createDatabase();
    const opening = openPatiently(own(empty), NOW_MS);
    assert.equal(await faultOf(opening), "denied");
    await assert.rejects(opening, /this user may not make tables there/);
  });

  test("counts and sums are numbers, octets are octets, and U+0000 is accepted", async (t) => {
    const { db, close } = await open(NOW_MS);
    t.after(close);
    const row = { number: 901, name: "a\0b", applied_at_ms: NOW_MS };
    await db.insertInto("schema_migrations").values(row).execute();
    const read = await db
      .selectFrom("schema_migrations")
      .select(({ fn }) => ["name", "applied_at_ms", fn.sum("applied_at_ms").as("sum")])
      .where("number", "=", 901)
      .groupBy(["name", "applied_at_ms"])
      .executeTakeFirstOrThrow();
    assert.deepEqual(read, { name: "a\uFFFDb", applied_at_ms: NOW_MS, sum: NOW_MS });
    const content = Uint8Array.from([0, 1, 255]);
    await db.insertInto("table_pages").values({ session: "s", number: 0, content }).execute();
    const page = await db.selectFrom("table_pages").select("content").executeTakeFirstOrThrow();
    assert.deepEqual(Uint8Array.from(page.content), content);
  });

  test("a statement that takes too long, or waits too long for a lock, is down", async (t) => {
    const url = await database();
    const opened = async (limits: Partial<PostgresLimits>) => {
      const { db, close } = await openPostgres(url, NOW_MS, { ...PATIENT, ...limits });
      t.after(close);
      return db;
    };
    const { sql } = await import("kysely");
    const hurried = await opened({ statementTimeoutMs: 60 });
    await assert.rejects(sql`select pg_sleep(60)`.execute(hurried), StoreDown);
    const db = await opened({ lockTimeoutMs: 20 });
    await db.transaction().execute(async (holder) => {
      const touch = (on: typeof db) =>
        on.updateTable("webhook_claims").set({ claims: 1 }).where("id", "=", 1).execute();
      await touch(holder);
      await assert.rejects(touch(db), StoreDown);
    });
  });

  test("a pool whose sessions are all taken is crowded", async (t) => {
    const limits = { ...PATIENT, connectionsMax: 1, connectTimeoutMs: 500 };
    const { db, close } = await openPostgres(await database(), NOW_MS, limits);
    t.after(close);
    await db.transaction().execute(async (holder) => {
      await sql`select 1`.execute(holder);
      await assert.rejects(sql`select 1`.execute(db), isCrowded);
    });
  });

  test("a deadlock is settled by another try of the whole transaction", async (t) => {
    const { db, close } = await open(NOW_MS);
    t.after(close);
    for (const number of [901, 902]) {
      const row = { number, name: "", applied_at_ms: 0 };
      await db.insertInto("schema_migrations").values(row).execute();
    }
    let attempts = 0;
    let held = 0;
    let bothHold = (): void => undefined;
    const holding = new Promise<void>((resolve) => (bothHold = resolve));
    let oneIsDone = (): void => undefined;
    const done = new Promise<void>((resolve) => (oneIsDone = resolve));
    const cross = (first: number, second: number) =>
      inTransaction(db, async (tx) => {
        attempts += 1;
        const grow = (number: number) =>
          tx.sql
            .updateTable("schema_migrations")
            .set(({ eb }) => ({ applied_at_ms: eb("applied_at_ms", "+", 1) }))
            .where("number", "=", number)
            .execute();
        // A second try that came before the other was woken would take its row, and both would stand still again.
        if (attempts > 2) await done;
        await grow(first);
        held += 1;
        if (held === 2) bothHold();
        await holding;
        await grow(second);
      }).then(oneIsDone);
    await Promise.all([cross(901, 902), cross(902, 901)]);
    assert.equal(attempts, 3);
    const rows = await db
      .selectFrom("schema_migrations")
      .select("applied_at_ms")
      .where("number", ">", 900)
      .execute();
    assert.deepEqual(
      rows.map((row) => row.applied_at_ms),
      [2, 2],
    );
  });

  test("an error of the server keeps its code", async (t) => {
    const { db, close } = await open(NOW_MS);
    t.after(close);
    const row = { number: 1, name: "", applied_at_ms: 0 };
    await assert.rejects(
      db.insertInto("schema_migrations").values(row).execute(),
      (error) => sqlState(error) === "23505",
    );
  });
});
