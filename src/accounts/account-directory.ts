import { type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import { accountKey } from "../base/owner.ts";
import { countRows, deleteRows, literally, lockAccount } from "../store/rows.ts";
import type { Database } from "../store/schema.ts";
import { inTransaction } from "../store/transaction.ts";
import { type Account, account, type AccountTier } from "./accounts-store.ts";

interface FoundAccounts {
  readonly accounts: readonly Account[];
  readonly total: number;
}

export const ACCOUNT_STATES = ["admin", "disabled", "signed_up"] as const;
type AccountState = (typeof ACCOUNT_STATES)[number];

export interface SoughtAccounts {
  /** In the e-mail address or the id, in any case. */
  readonly text?: string;
  readonly tier?: AccountTier;
  readonly state?: AccountState;
  readonly skip?: number;
}

/** All that is kept under an account: by its id, by its owner key, and by the sessions of its lists. */
const OF_ACCOUNT = [
  "login_sessions",
  "webhook_deliveries",
  "webhook_endpoints",
  "api_keys",
  "credit_entries",
  "traffic",
  "feedback",
  "decisions",
  "policies",
  "policy_versions",
  "outcome_counts",
  "hour_counts",
  "shadow_counts",
  "shadow_domains",
  "hooks",
  "account_lists",
] as const;
const OF_OWNER = ["jobs", "retry_keys", "usage_days", "charges"] as const;
const OF_SESSION = ["chunks", "table_pages"] as const;

const STATES: Readonly<Record<AccountState, RawBuilder<SqlBool>>> = {
  admin: sql`admin = 1`,
  disabled: sql`disabled_at_ms is not null`,
  signed_up: sql`origin = 'signup'`,
};

function conditionsOf({ text = "", tier, state }: SoughtAccounts): RawBuilder<SqlBool>[] {
  const pattern = `%${literally(text.toLowerCase())}%`;
  return [
    sql`(email like ${pattern} escape '\\' or id like ${pattern} escape '\\')`,
    ...(tier === undefined ? [] : [sql<SqlBool>`tier = ${tier}`]),
    ...(state === undefined ? [] : [STATES[state]]),
  ];
}

/** Accounts as an administrator looks for them. Rules: `test/contracts/account/account-directory.ts`. */
export class AccountDirectory {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async search({ skip = 0, ...sought }: SoughtAccounts, limit: number): Promise<FoundAccounts> {
    const all = this.#db.selectFrom("accounts");
    const matching = all.where((is) => is.and(conditionsOf(sought)));
    const rows = await matching.selectAll().orderBy("email").limit(limit).offset(skip).execute();
    return { accounts: rows.map(account), total: await countRows(matching) };
  }

  /** Deletes the account and everything kept under it but the audit log. False when there is none. */
  async erase(id: string): Promise<boolean> {
    return await inTransaction(this.#db, async (tx) => {
      await lockAccount(tx, id); // nothing that refers to it comes in between
      const hooks = tx.sql.selectFrom("hooks").select("id").where("account_id", "=", id);
      await tx.sql.deleteFrom("hook_counts").where("hook_id", "in", hooks).execute();
      const lists = tx.sql.selectFrom("account_lists").select("id").where("account_id", "=", id);
      await tx.sql.deleteFrom("account_list_parts").where("list", "in", lists).execute();
      for (const table of OF_ACCOUNT) await deleteRows(tx.sql, table, { account_id: id });
      const owner = accountKey(id);
      const sessions = tx.sql.selectFrom("jobs").select("session").where("owner", "=", owner);
      for (const table of OF_SESSION) {
        await tx.sql.deleteFrom(table).where("session", "in", sessions).execute();
      }
      for (const table of OF_OWNER) await deleteRows(tx.sql, table, { owner });
      return (await deleteRows(tx.sql, "accounts", { id })) === 1;
    });
  }
}
