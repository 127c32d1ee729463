import type { Migration } from "./migration.ts";

export const guessesMigration: Migration = {
  name: "0015-guesses",
  async up(db) {
    await db.schema
      .createTable("guesses")
      .addColumn("key", "text", (column) => column.primaryKey())
      .addColumn("tries", "integer", (column) => column.notNull())
      .addColumn("last_ms", "bigint", (column) => column.notNull())
      .addColumn("next_ms", "bigint", (column) => column.notNull())
      .execute();
  },
};
