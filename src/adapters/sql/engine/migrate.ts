import type { Kysely } from "kysely";
import { DatabaseFault } from "./database-fault.ts";
import { accountsMigration } from "../migrations/0001-accounts.ts";
import { usageMigration } from "../migrations/0002-usage.ts";
import { webhooksMigration } from "../migrations/0003-webhooks.ts";
import { registrationsMigration } from "../migrations/0004-registrations.ts";
import { bulkMigration } from "../migrations/0005-bulk.ts";
import { dashboardMigration } from "../migrations/0006-dashboard.ts";
import { listsMigration } from "../migrations/0007-lists.ts";
import { ownTrafficMigration } from "../migrations/0008-own-traffic.ts";
import { dutiesMigration } from "../migrations/0009-duties.ts";
import { usageWritersMigration } from "../migrations/0010-usage-writers.ts";
import { installationMigration } from "../migrations/0011-installation.ts";
import { signUpGateMigration } from "../migrations/0012-sign-up-gate.ts";
import { progressMigration } from "../migrations/0013-progress.ts";
import { tokenSecretsMigration } from "../migrations/0014-token-secrets.ts";
import { guessesMigration } from "../migrations/0015-guesses.ts";
import { countersMigration } from "../migrations/0016-counters.ts";
import type { Migration } from "../migrations/migration.ts";
import type { Database } from "./schema.ts";
import { lockName } from "./row-locks.ts";
import { inTransaction, type Tx } from "./transaction.ts";

/** In the order they run; a migration's number is its place in this list, from 1. */
export const MIGRATIONS: readonly Migration[] = [
  accountsMigration,
  usageMigration,
  webhooksMigration,
  registrationsMigration,
  bulkMigration,
  dashboardMigration,
  listsMigration,
  ownTrafficMigration,
  dutiesMigration,
  usageWritersMigration,
  installationMigration,
  signUpGateMigration,
  progressMigration,
  tokenSecretsMigration,
  guessesMigration,
  countersMigration,
];

/** The number of the newest migration that `tx` sees applied; 0 for an empty database. */
async function appliedNumber({ sql }: Tx): Promise<number> {
  await sql.schema
    .createTable("schema_migrations")
    .ifNotExists()
    .addColumn("number", "integer", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("applied_at_ms", "bigint", (column) => column.notNull())
    .execute();
  const newest = await sql
    .selectFrom("schema_migrations")
    .select("number")
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return newest?.number ?? 0;
}

async function apply(tx: Tx, migration: Migration, row: { number: number; nowMs: number }) {
  try {
    await migration.up(tx.sql);
  } catch (cause) {
    throw new Error(`migration ${migration.name}`, { cause });
  }
  const { number, nowMs } = row;
  await tx.sql
    .insertInto("schema_migrations")
    .values({ number, name: migration.name, applied_at_ms: nowMs })
    .execute();
}

/**
 * Brings the schema to this program's version, all of it or nothing, and returns the names of what ran. Of
 * several who do so at once the first does it, and the others wait and find it done.
 * Throws a `DatabaseFault` "newer_schema" when a newer program was here.
 */
export async function migrate(
  db: Kysely<Database>,
  nowMs: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<readonly string[]> {
  return await inTransaction(db, async (tx) => {
    await lockName(tx, "schema_migrations");
    const applied = await appliedNumber(tx);
    if (applied > migrations.length) {
      const message =
        `the database has schema ${String(applied)}, this program knows ` +
        `${String(migrations.length)}: run the newer version of gatepost`;
      throw new DatabaseFault("newer_schema", message);
    }
    const missing = migrations.slice(applied);
    for (const [index, migration] of missing.entries()) {
      await apply(tx, migration, { number: applied + index + 1, nowMs });
    }
    return missing.map(({ name }) => name);
  });
}
