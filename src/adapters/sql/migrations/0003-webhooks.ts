import { sql } from "kysely";
import type { Migration, MigrationDb } from "./migration.ts";

async function endpoints(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("webhook_endpoints")
    .addColumn("account_id", "text", (column) => column.primaryKey().references("accounts.id"))
    .addColumn("url", "text", (column) => column.notNull())
    .addColumn("events", "text", (column) => column.notNull())
    .addColumn("sealed_secret", "text", (column) => column.notNull())
    .execute();
}

async function deliveries(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("webhook_deliveries")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
    .addColumn("event", "text", (column) => column.notNull())
    .addColumn("session", "text")
    .addColumn("data", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("queued_at_ms", "bigint", (column) => column.notNull())
    .addColumn("attempted_at_ms", "bigint")
    .addColumn("duration_ms", "bigint")
    .addColumn("status", "integer")
    .addColumn("error", "text")
    .addColumn("snippet", "text")
    .execute();
  const indexes = {
    webhook_deliveries_state: ["state", "account_id", "queued_at_ms"],
    webhook_deliveries_account: ["account_id", "queued_at_ms"],
    webhook_deliveries_queued: ["queued_at_ms"],
  } as const;
  for (const [name, columns] of Object.entries(indexes)) {
    await db.schema
      .createIndex(name)
      .on("webhook_deliveries")
      .columns([...columns])
      .execute();
  }
}

async function claims(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("webhook_claims")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("claims", "bigint", (column) => column.notNull())
    .execute();
  await sql`insert into webhook_claims (id, claims) values (1, 0)`.execute(db);
}

export const webhooksMigration: Migration = {
  name: "0003-webhooks",
  async up(db) {
    await endpoints(db);
    await deliveries(db);
    await claims(db);
  },
};
