import { sql } from "kysely";
import type { Migration, MigrationDb } from "./migration.ts";

const JOB_COUNTS = [
  "total",
  "unique_count",
  "processed",
  "invalid_format",
  "disposable",
  "invalid_dns",
  "valid",
  "chunk_count",
  "open_chunks",
  "accepted_at_ms",
  "served_turn",
  "table_pages",
] as const;

async function jobs(db: MigrationDb): Promise<void> {
  const keys = db.schema
    .createTable("jobs")
    .addColumn("session", "text", (column) => column.primaryKey())
    .addColumn("owner", "text", (column) => column.notNull())
    .addColumn("client_address", "text", (column) => column.notNull())
    .addColumn("origin", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("is_running", "integer", (column) => column.notNull())
    .addColumn("spam_trap", "integer", (column) => column.notNull())
    .addColumn("announced", "integer", (column) => column.notNull())
    .addColumn("charge_id", "text", (column) => column.notNull())
    .addColumn("dns_down_since_ms", "bigint")
    .addColumn("expires_at_ms", "bigint")
    .addColumn("table_header", "text");
  // Each builder is a new object, so the columns are folded on rather than looped over.
  await JOB_COUNTS.reduce<typeof keys>(
    (table, name) => table.addColumn(name, "bigint", (column) => column.notNull()),
    keys,
  ).execute();
  const running = db.schema.createIndex("jobs_running").on("jobs").column("owner").unique();
  await running.where(sql.ref("is_running"), "=", 1).execute();
  const owner = db.schema.createIndex("jobs_owner").on("jobs");
  await owner.columns(["owner", "accepted_at_ms"]).execute();
  await db.schema.createIndex("jobs_expiry").on("jobs").column("expires_at_ms").execute();
  const untold = db.schema.createIndex("jobs_untold").on("jobs").column("expires_at_ms");
  await untold.where(sql.ref("announced"), "=", 0).execute();
}

async function parts(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("chunks")
    .addColumn("session", "text", (column) => column.notNull())
    .addColumn("number", "integer", (column) => column.notNull())
    .addColumn("entries", "integer", (column) => column.notNull())
    .addColumn("available_at_ms", "bigint")
    .addColumn("lease_worker", "text")
    .addColumn("lease_token", "text")
    .addColumn("claims", "integer", (column) => column.notNull())
    .addColumn("content", "bytea", (column) => column.notNull())
    .addColumn("results", "bytea")
    .addColumn("valid", "bytea")
    .addPrimaryKeyConstraint("chunks_key", ["session", "number"])
    .execute();
  const open = db.schema.createIndex("chunks_open").on("chunks");
  const byTime = open.columns(["session", "available_at_ms"]);
  await byTime.where("available_at_ms", "is not", null).execute();
  const leased = db.schema.createIndex("chunks_leased").on("chunks").column("lease_worker");
  await leased.where("lease_worker", "is not", null).execute();
  await db.schema
    .createTable("table_pages")
    .addColumn("session", "text", (column) => column.notNull())
    .addColumn("number", "integer", (column) => column.notNull())
    .addColumn("content", "bytea", (column) => column.notNull())
    .addPrimaryKeyConstraint("table_pages_key", ["session", "number"])
    .execute();
}

async function beside(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("bulk_workers")
    .addColumn("worker", "text", (column) => column.primaryKey())
    .addColumn("entries_per_second", "bigint", (column) => column.notNull())
    .addColumn("seen_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("retry_keys")
    .addColumn("owner", "text", (column) => column.notNull())
    .addColumn("key", "text", (column) => column.notNull())
    .addColumn("body_hash", "text", (column) => column.notNull())
    .addColumn("token", "text", (column) => column.notNull())
    .addColumn("session", "text")
    .addColumn("answer", "text")
    .addColumn("locked_until_ms", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("retry_keys_key", ["owner", "key"])
    .execute();
  await db.schema.createIndex("retry_keys_session").on("retry_keys").column("session").execute();
}

export const bulkMigration: Migration = {
  name: "0005-bulk",
  async up(db) {
    await jobs(db);
    await parts(db);
    await beside(db);
  },
};
