import { strict as assert } from "node:assert";
import { test } from "node:test";
import { addAccount, openStores } from "../../test/contracts/stores.ts";
import { Accounts } from "./accounts-store.ts";

/** Kept on purpose: who changed what stays on record. */
const KEPT = ["audit_entries"];

test("every table that names an account is emptied of it when it is erased", async (t) => {
  const stores = await openStores(t);
  const { db } = stores.sql;
  for (const id of ["a1", "a2"]) await addAccount(stores, 5, id);
  const tables = (await db.introspection.getTables()).filter(({ columns }) =>
    columns.some(({ name }) => name === "account_id" || name === "owner"),
  );
  assert.ok(tables.length >= 8);
  const rowsOf = async (table: string, id: string): Promise<number> => {
    const rows: unknown[] = await db
      .selectFrom(table as "accounts")
      .selectAll()
      .execute();
    return rows.filter((row) => {
      const { account_id: accountId, owner } = row as { account_id?: string; owner?: string };
      return accountId === id || owner === `account:${id}`;
    }).length;
  };
  for (const { name, columns } of tables) {
    for (const id of ["a1", "a2"]) {
      if ((await rowsOf(name, id)) > 0) continue;
      const row = columns.map((column) => [column.name, valueFor(column, id)] as const);
      await db
        .insertInto(name as "accounts")
        .values(Object.fromEntries(row) as never)
        .execute();
    }
  }
  assert.equal(await new Accounts(db).erase("a1"), true);
  for (const { name } of tables) {
    const want = KEPT.includes(name) ? 1 : 0;
    assert.equal(await rowsOf(name, "a1"), want, `${name} of the erased account`);
    assert.ok((await rowsOf(name, "a2")) > 0, `${name} of the other account`);
  }
});

function valueFor(
  { name, dataType }: { readonly name: string; readonly dataType: string },
  id: string,
): string | number | Uint8Array {
  if (name === "account_id") return id;
  if (name === "owner") return `account:${id}`;
  if (/text/i.test(dataType)) return `${name} of ${id}`;
  return /blob/i.test(dataType) ? new Uint8Array() : 1;
}
