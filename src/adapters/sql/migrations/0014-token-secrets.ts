import type { Migration } from "./migration.ts";

/** What is fixed with a publishable key. Tokens are signed with a secret of the account; the installation's signing keys are dropped, and a table without a user. */
export const tokenSecretsMigration: Migration = {
  name: "0014-token-secrets",
  async up(db) {
    for (const unused of ["signing_keys", "reports"]) {
      await db.schema.dropTable(unused).ifExists().execute();
    }
    await db.schema.alterTable("accounts").addColumn("token_secret", "text").execute();
    await db.schema.alterTable("api_keys").addColumn("page", "text").execute();
  },
};
