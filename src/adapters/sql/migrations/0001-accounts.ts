import { sql } from "kysely";
import type { Migration, MigrationDb } from "./migration.ts";

async function accounts(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("accounts")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("email", "text", (column) => column.notNull().unique())
    .addColumn("tier", "text", (column) => column.notNull())
    .addColumn("origin", "text", (column) => column.notNull())
    .addColumn("admin", "integer", (column) => column.notNull())
    .addColumn("credit_balance", "bigint", (column) =>
      column.notNull().check(sql`credit_balance >= 0`),
    )
    .addColumn("credit_entries", "bigint", (column) => column.notNull())
    .addColumn("password_hash", "text")
    .addColumn("disabled_at_ms", "bigint")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .execute();
}

async function apiKeys(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("api_keys")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("key_hash", "text", (column) => column.notNull().unique())
    .addColumn("prefix", "text", (column) => column.notNull())
    .addColumn("last_four", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("last_used_at_ms", "bigint")
    .addColumn("revoked_at_ms", "bigint")
    .execute();
  await db.schema
    .createIndex("api_keys_account")
    .on("api_keys")
    .columns(["account_id", "created_at_ms"])
    .execute();
}

async function creditEntries(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("credit_entries")
    .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
    .addColumn("sequence", "bigint", (column) => column.notNull())
    .addColumn("amount", "bigint", (column) => column.notNull().check(sql`amount <> 0`))
    .addColumn("balance_after", "bigint", (column) => column.notNull())
    .addColumn("reason", "text", (column) => column.notNull())
    .addColumn("reference", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("credit_entries_key", ["account_id", "sequence"])
    .execute();
}

export const accountsMigration: Migration = {
  name: "0001-accounts",
  async up(db) {
    await accounts(db);
    await apiKeys(db);
    await creditEntries(db);
  },
};
