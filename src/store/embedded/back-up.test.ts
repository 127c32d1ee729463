import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { addAccount, openStores } from "../../../test/contracts/stores.ts";
import { backUpEmbedded, lastBackUp } from "./back-up.ts";
import { DatabaseFault } from "../database-fault.ts";
import { openEmbedded } from "../database.ts";
import { openSqlite } from "./sqlite.ts";
import { temporaryFolder } from "../../../test/process/temporary-folder.ts";

async function accountsIn(file: string): Promise<readonly string[]> {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, "gatepost.db"), readFileSync(file));
  const { db, close } = await openEmbedded(dataDir, 0);
  const rows = await db.selectFrom("accounts").select("id").execute();
  await close();
  return rows.map(({ id }) => id);
}

test("a copy made in the midst of a transaction holds what was committed before, and can be opened", async (t) => {
  const dataDir = temporaryFolder();
  const stores = await openStores(t, dataDir);
  await addAccount(stores, 10);
  const target = join(temporaryFolder(), "copy.db");
  await stores.sql.db.transaction().execute(async (sql) => {
    await sql
      .updateTable("accounts")
      .set({ id: "later" })
      .where("credit_balance", "=", 0)
      .execute();
    await sql.deleteFrom("credit_entries").execute();
    backUpEmbedded(dataDir, target);
  });
  assert.deepEqual(await accountsIn(target), ["a1"]);
});

test("a copy is readable by this user alone, has the reported size, and leaves no other file", async (t) => {
  const dataDir = temporaryFolder();
  await openStores(t, dataDir);
  const outside = temporaryFolder();
  assert.equal(lastBackUp(dataDir), undefined, "none is known");
  const bytes = backUpEmbedded(dataDir, join(outside, "copy.db"));
  assert.match(lastBackUp(dataDir) ?? "", /^\d{4}-\d\d-\d\dT/);
  const { size, mode } = statSync(join(outside, "copy.db"));
  assert.equal(bytes, size);
  assert.equal(mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(outside), ["copy.db"]);
});

test("what was deleted before is not in the copy", async (t) => {
  const dataDir = temporaryFolder();
  const stores = await openStores(t, dataDir);
  const { db } = stores.sql;
  await db
    .insertInto("registrations")
    .values({ domain: "forgotten-name.example", registered_at_ms: null, expires_at_ms: 1 })
    .execute();
  await db.deleteFrom("registrations").execute();
  const target = join(temporaryFolder(), "copy.db");
  backUpEmbedded(dataDir, target);
  assert.ok(!readFileSync(target).includes("forgotten-name"));
});

const refused = [
  ["a file that is there already", "there.db", /there is a file already/],
  ["a folder", "folder", /there is a file already/],
  ["a folder that does not exist", "none/copy.db", /ENOENT/],
] as const;

for (const [name, target, words] of refused) {
  test(`${name} is refused as a target, and nothing is changed`, async (t) => {
    const dataDir = temporaryFolder();
    await openStores(t, dataDir);
    const outside = temporaryFolder();
    writeFileSync(join(outside, "there.db"), "precious");
    mkdirSync(join(outside, "folder"));
    assert.throws(() => backUpEmbedded(dataDir, join(outside, target)), words);
    assert.equal(readFileSync(join(outside, "there.db"), "utf8"), "precious");
    assert.deepEqual(readdirSync(outside).sort(), ["folder", "there.db"]);
  });
}

test("a data directory without a database is a fault, and none is made", () => {
  const dataDir = temporaryFolder();
  const target = join(temporaryFolder(), "copy.db");
  assert.throws(
    () => backUpEmbedded(dataDir, target),
    (fault: unknown) => fault instanceof DatabaseFault && /no database/.test(fault.message),
  );
  assert.deepEqual(readdirSync(dataDir), []);
  assert.ok(!existsSync(target));
});

test("a file that is not a database is a fault that names its folder, and leaves nothing behind", () => {
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, "gatepost.db"), "no database".repeat(1_000));
  const outside = temporaryFolder();
  assert.throws(
    () => backUpEmbedded(dataDir, join(outside, "copy.db")),
    (fault: unknown) => fault instanceof DatabaseFault && fault.code === "not_a_database",
  );
  assert.deepEqual(readdirSync(outside), []);
});

const foreign: readonly (readonly [what: string, make: (file: string) => void])[] = [
  ["is empty", (file) => writeFileSync(file, "")],
  [
    "is another program's",
    (file) => {
      const other = openSqlite(file);
      other.exec("create table songs (name text)");
      other.close();
    },
  ],
];

for (const [what, make] of foreign) {
  test(`a database that ${what} is not copied, and no back-up is noted`, () => {
    const dataDir = temporaryFolder();
    make(join(dataDir, "gatepost.db"));
    const outside = temporaryFolder();
    assert.throws(
      () => backUpEmbedded(dataDir, join(outside, "copy.db")),
      /damaged or not a database/,
    );
    assert.deepEqual(readdirSync(outside), []);
    assert.equal(lastBackUp(dataDir), undefined);
  });
}
