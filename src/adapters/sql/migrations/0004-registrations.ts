import type { Migration } from "./migration.ts";

export const registrationsMigration: Migration = {
  name: "0004-registrations",
  async up(db) {
    await db.schema
      .createTable("registrations")
      .addColumn("domain", "text", (column) => column.primaryKey())
      .addColumn("registered_at_ms", "bigint")
      .addColumn("expires_at_ms", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("registrations_expires")
      .on("registrations")
      .column("expires_at_ms")
      .execute();
  },
};
