import type { Migration, MigrationDb } from "./migration.ts";

async function ownSpellings(db: MigrationDb): Promise<void> {
  await db.schema
    .alterTable("accounts")
    .addColumn("spellings", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable("own_spellings")
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("mailbox", "text", (column) => column.notNull())
    .addColumn("spelling", "text", (column) => column.notNull())
    .addColumn("day", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("own_spellings_key", ["account_id", "mailbox", "spelling"])
    .execute();
  await db.schema.createIndex("own_spellings_day").on("own_spellings").column("day").execute();
}

async function domainMail(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("domain_mail")
    .addColumn("domain", "text", (column) => column.primaryKey())
    .addColumn("hosts", "text", (column) => column.notNull())
    .addColumn("addresses", "text", (column) => column.notNull())
    .addColumn("disposable", "integer", (column) => column.notNull())
    .addColumn("day", "integer", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("domain_mail_day").on("domain_mail").column("day").execute();
}

export const ownTrafficMigration: Migration = {
  name: "0008-own-traffic",
  async up(db) {
    await ownSpellings(db);
    await domainMail(db);
  },
};
