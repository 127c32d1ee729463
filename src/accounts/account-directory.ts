import { type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import { accountKey } from "../base/owner.ts";
import { EMAIL_ASKED } from "./audit.ts";
import { changeRows, countRows, deleteRows, literally, lockAccount } from "../store/rows.ts";
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

/** How many keys, hooks and webhooks ended, and the policies that are still there. */
export interface EndedAccess {
  readonly keys: number;
  readonly hooks: number;
  readonly webhooks: number;
  readonly policies: readonly string[];
}

/** All that is kept under an account: by its id, by its owner key, and by the sessions of its lists. */
const OF_ACCOUNT = [
  "login_sessions",
  "webhook_deliveries",
  "webhook_endpoints",
  "api_keys",
  "credit_entries",
  "traffic",
  "waves",
  "feedback",
  "decisions",
  "policies",
  "policy_versions",
  "outcome_counts",
  "hour_counts",
  "refusal_counts",
  "shadow_counts",
  "shadow_domains",
  "rule_counts",
  "hooks",
  "account_lists",
  "list_history",
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

  /**
   * Ends what lets others act for the account: keys, hooks, the webhook, the secret of tokens and the second factor. For an account whose
   * maker may be a stranger. Policies stay, and are named.
   */
  async endAccess(id: string, nowMs: number): Promise<EndedAccess> {
    return await inTransaction(this.#db, async ({ sql: tx }) => {
      const keys = tx.updateTable("api_keys").set({ revoked_at_ms: nowMs });
      const revoked = await keys
        .where("account_id", "=", id)
        .where("revoked_at_ms", "is", null)
        .executeTakeFirst();
      const hooks = tx.selectFrom("hooks").select("id").where("account_id", "=", id);
      await tx.deleteFrom("hook_counts").where("hook_id", "in", hooks).execute();
      const queued = { account_id: id, state: "queued" } as const;
      await changeRows(tx, "webhook_deliveries", queued, { state: "removed" });
      await changeRows(tx, "accounts", { id }, { token_secret: null, second_factor: null });
      const policies = tx.selectFrom("policies").select("name").where("account_id", "=", id);
      return {
        keys: Number(revoked.numUpdatedRows),
        hooks: await deleteRows(tx, "hooks", { account_id: id }),
        webhooks: await deleteRows(tx, "webhook_endpoints", { account_id: id }),
        policies: (await policies.orderBy("name").execute()).map(({ name }) => name),
      };
    });
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
      const asked = { account_id: id, action: EMAIL_ASKED };
      await changeRows(tx.sql, "audit_entries", asked, { detail: "" });
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
