import type { Migration } from "./migration.ts";

/** What all processes on one database must agree on. */
export const installationMigration: Migration = {
  name: "0011-installation",
  async up(db) {
    await db.schema
      .createTable("installation")
      .addColumn("name", "text", (column) => column.primaryKey())
      .addColumn("value", "text", (column) => column.notNull())
      .execute();
  },
};
