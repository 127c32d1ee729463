import { sql } from "kysely";
import type { Migration, MigrationDb } from "./migration.ts";

async function operatorEntries(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("operator_entries")
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("topic", "text", (column) => column.notNull())
    .addColumn("word", "text", (column) => column.notNull())
    .addColumn("note", "text", (column) => column.notNull())
    .addColumn("author", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("expires_at_ms", "bigint")
    .addPrimaryKeyConstraint("operator_entries_key", ["subject", "topic"])
    .execute();
  await db.schema
    .createTable("operator_changes")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("changes", "bigint", (column) => column.notNull())
    .execute();
  await sql`insert into operator_changes (id, changes) values (1, 0)`.execute(db);
}

async function verdictCounts(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("verdict_counts")
    .addColumn("day", "integer", (column) => column.notNull())
    .addColumn("domain", "text", (column) => column.notNull())
    .addColumn("disposable", "bigint", (column) => column.notNull())
    .addColumn("other", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("verdict_counts_key", ["day", "domain"])
    .execute();
  await db.schema
    .createIndex("verdict_counts_domain")
    .on("verdict_counts")
    .column("domain")
    .execute();
}

export const listsMigration: Migration = {
  name: "0007-lists",
  async up(db) {
    await operatorEntries(db);
    await verdictCounts(db);
  },
};
