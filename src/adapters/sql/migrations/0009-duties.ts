import type { Migration } from "./migration.ts";

/** What several machines share so that one of them at a time does what needs to be done once. */
export const dutiesMigration: Migration = {
  name: "0009-duties",
  async up(db) {
    await db.schema
      .createTable("elections")
      .addColumn("duty", "text", (column) => column.primaryKey())
      .addColumn("candidate", "text", (column) => column.notNull())
      .addColumn("until_ms", "bigint", (column) => column.notNull())
      .addColumn("term", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("list_files")
      .addColumn("name", "text", (column) => column.primaryKey())
      .addColumn("version", "text", (column) => column.notNull())
      .addColumn("content", "bytea", (column) => column.notNull())
      .addColumn("changed_at_ms", "bigint", (column) => column.notNull())
      .execute();
  },
};
