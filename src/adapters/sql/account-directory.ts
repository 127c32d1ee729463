import { type Kysely, sql } from "kysely";
import type { AccountDirectory } from "../../ports/account-directory.ts";
import { accountKey } from "../../ports/owner.ts";
import { account } from "./accounts.ts";
import type { Database } from "./schema.ts";
import { inTransaction } from "./transaction.ts";

/** `text` inside a LIKE pattern, standing for itself. */
const literally = (text: string): string => text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`);

export function sqlAccountDirectory(db: Kysely<Database>): AccountDirectory {
  return {
    async search(text, limit) {
      const pattern = `%${literally(text.toLowerCase())}%`;
      const matching = db
        .selectFrom("accounts")
        .where(sql<boolean>`(email like ${pattern} escape '\\' or id like ${pattern} escape '\\')`);
      const rows = await matching.selectAll().orderBy("email").limit(limit).execute();
      const { total } = await matching
        .select(({ fn }) => fn.countAll().as("total"))
        .executeTakeFirstOrThrow();
      return { accounts: rows.map(account), total: Number(total) };
    },
    async erase(accountId) {
      return await inTransaction(db, async (tx) => {
        for (const table of ["login_sessions", "api_keys", "credit_entries"] as const) {
          await tx.sql.deleteFrom(table).where("account_id", "=", accountId).execute();
        }
        for (const table of ["usage_days", "charges"] as const) {
          await tx.sql.deleteFrom(table).where("owner", "=", accountKey(accountId)).execute();
        }
        const gone = await tx.sql
          .deleteFrom("accounts")
          .where("id", "=", accountId)
          .executeTakeFirst();
        return Number(gone.numDeletedRows) === 1;
      });
    },
  };
}
