import type { Migration, MigrationDb } from "./migration.ts";

async function policies(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("policies")
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("live_version", "integer")
    .addColumn("shadow_version", "integer")
    .addColumn("next_version", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("policies_key", ["account_id", "name"])
    .execute();
  await db.schema
    .createTable("policy_versions")
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("document", "text", (column) => column.notNull())
    .addColumn("author", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("policy_versions_key", ["account_id", "name", "version"])
    .execute();
}

async function outcomes(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("outcome_counts")
    .addColumn("day", "integer", (column) => column.notNull())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("key_id", "text", (column) => column.notNull())
    .addColumn("form", "text", (column) => column.notNull())
    .addColumn("decision", "text", (column) => column.notNull())
    .addColumn("reason", "text", (column) => column.notNull())
    .addColumn("count", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("outcome_counts_key", [
      "account_id",
      "day",
      "key_id",
      "form",
      "decision",
      "reason",
    ])
    .execute();
  await db.schema.createIndex("outcome_counts_day").on("outcome_counts").column("day").execute();
}

async function shadows(db: MigrationDb): Promise<void> {
  for (const table of ["shadow_counts", "shadow_domains"] as const) {
    // Of `shadow_counts` the domain is always "".
    await db.schema
      .createTable(table)
      .addColumn("account_id", "text", (column) => column.notNull())
      .addColumn("policy", "text", (column) => column.notNull())
      .addColumn("version", "integer", (column) => column.notNull())
      .addColumn("day", "integer", (column) => column.notNull())
      .addColumn("live", "text", (column) => column.notNull())
      .addColumn("shadow", "text", (column) => column.notNull())
      .addColumn("domain", "text", (column) => column.notNull().defaultTo(""))
      .addColumn("count", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint(`${table}_key`, [
        "account_id",
        "policy",
        "version",
        "day",
        "live",
        "shadow",
        "domain",
      ])
      .execute();
    await db.schema.createIndex(`${table}_day`).on(table).column("day").execute();
  }
}

async function keys(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("signing_keys")
    .addColumn("kid", "text", (column) => column.primaryKey())
    .addColumn("x", "text", (column) => column.notNull())
    .addColumn("sealed", "text", (column) => column.notNull())
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .addColumn("retired_at_ms", "bigint")
    .execute();
  await db.schema.alterTable("api_keys").addColumn("origins", "text").execute();
}

async function hooks(db: MigrationDb): Promise<void> {
  await db.schema
    .createTable("hooks")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("system", "text", (column) => column.notNull())
    .addColumn("policy", "text", (column) => column.notNull())
    .addColumn("challenge", "text", (column) => column.notNull())
    .addColumn("secret", "text", (column) => column.notNull())
    .addColumn("jwks_url", "text")
    .addColumn("last_call", "text")
    .addColumn("last_failure", "text")
    .addColumn("created_at_ms", "bigint", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("hooks_account").on("hooks").column("account_id").execute();
  await db.schema
    .createTable("hook_counts")
    .addColumn("hook_id", "text", (column) => column.notNull())
    .addColumn("day", "integer", (column) => column.notNull())
    .addColumn("outcome", "text", (column) => column.notNull())
    .addColumn("count", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("hook_counts_key", ["hook_id", "day", "outcome"])
    .execute();
  await db.schema.createIndex("hook_counts_day").on("hook_counts").column("day").execute();
}

/** Of the counted checks those whose domain has no mail server, and those DNS did not answer. */
async function mailCounts(db: MigrationDb): Promise<void> {
  for (const name of ["no_mail", "no_answer"]) {
    await db.schema
      .alterTable("verdict_counts")
      .addColumn(name, "integer", (column) => column.notNull().defaultTo(0))
      .execute();
  }
}

export const signUpGateMigration: Migration = {
  name: "0012-sign-up-gate",
  async up(db) {
    for (const part of [policies, outcomes, shadows, keys, hooks, mailCounts]) await part(db);
  },
};
