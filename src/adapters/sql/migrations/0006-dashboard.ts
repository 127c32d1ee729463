import type { Migration, MigrationDb } from "./migration.ts";

async function loginSessions(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("login_sessions")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
    .addColumn("token_hash", "text", (column) => column.notNull().unique())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("last_seen_at_ms", "bigint", (column) => column.notNull())
    .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
    .addColumn("client_address", "text", (column) => column.notNull())
    .addColumn("user_agent", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("login_sessions_account")
    .on("login_sessions")
    .column("account_id")
    .execute();
}

async function auditEntries(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("audit_entries")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("at_ms", "bigint", (column) => column.notNull())
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("actor_id", "text", (column) => column.notNull())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("detail", "text", (column) => column.notNull())
    .addColumn("client_address", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("audit_entries_account")
    .on("audit_entries")
    .columns(["account_id", "at_ms"])
    .execute();
  await db.schema.createIndex("audit_entries_at").on("audit_entries").column("at_ms").execute();
}

export const dashboardMigration: Migration = {
  name: "0006-dashboard",
  async up(db) {
    await loginSessions(db);
    await auditEntries(db);
  },
};
