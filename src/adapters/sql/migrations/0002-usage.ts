import { sql } from "kysely";
import type { Migration, MigrationDb } from "./migration.ts";

const COUNTS = [
  "units",
  "credits",
  "requests",
  "refusals",
  "latency_le_10",
  "latency_le_50",
  "latency_le_100",
  "latency_le_500",
  "latency_le_1000",
  "latency_le_5000",
  "latency_more",
] as const;

async function usageDays(db: MigrationDb): Promise<void> {
  const keys = db.schema
    .createTable("usage_days")
    .addColumn("owner", "text", (column) => column.notNull())
    .addColumn("day", "integer", (column) => column.notNull());
  // Each builder is a new object, so the columns are folded on rather than looped over.
  await COUNTS.reduce<typeof keys>(
    (table, name) => table.addColumn(name, "bigint", (column) => column.notNull().defaultTo(0)),
    keys,
  )
    .addPrimaryKeyConstraint("usage_days_key", ["owner", "day"])
    .execute();
  await db.schema.createIndex("usage_days_day").on("usage_days").column("day").execute();
}

async function charges(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("charges")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("owner", "text", (column) => column.notNull())
    .addColumn("paid_by", "text", (column) => column.notNull())
    .addColumn("units", "bigint", (column) => column.notNull())
    .addColumn("amount", "bigint", (column) => column.notNull())
    .addColumn("refunded", "bigint", (column) => column.notNull().check(sql`refunded <= amount`))
    .addColumn("day", "integer", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("charges_created").on("charges").column("created_at_ms").execute();
}

export const usageMigration: Migration = {
  name: "0002-usage",
  async up(db) {
    await usageDays(db);
    await charges(db);
  },
};
