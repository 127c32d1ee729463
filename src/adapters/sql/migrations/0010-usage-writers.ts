import type { Migration } from "./migration.ts";

export const usageWritersMigration: Migration = {
  name: "0010-usage-writers",
  async up(db) {
    await db.schema
      .createTable("usage_writers")
      .addColumn("writer", "text", (column) => column.primaryKey())
      .addColumn("batch", "bigint", (column) => column.notNull())
      .addColumn("day", "integer", (column) => column.notNull())
      .execute();
  },
};
