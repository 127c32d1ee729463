import { type RawBuilder, sql, type SqlBool } from "kysely";
import { accountKey } from "../base/owner.ts";
import { changeRows, countRows, deleteRows, findRow, literally } from "../store/rows.ts";
import { lockAccount } from "../store/locks.ts";
import type { AccountRow, Db } from "../store/schema.ts";
import { inTransaction } from "../store/transaction.ts";
import { EMAIL_ASKED } from "./audit.ts";

/** The plans an account can have; what they allow is the tier table of the service. */
export const ACCOUNT_TIERS = ["free", "starter", "pro"] as const;
export type AccountTier = (typeof ACCOUNT_TIERS)[number];

/** Numbers that the operator gave one account in place of its plan's; null: no limit. */
export interface AccountLimits {
  readonly ratePerMinute?: number | null;
  readonly daily?: number | null;
  readonly monthly?: number | null;
  readonly bulkLimit?: number | null;
  readonly watch?: number | null;
}

const FIRST_TRAFFIC = 1;

/** Nobody can sign in to an account that has no password. */
export type NewAccount = Pick<
  AccountRow,
  "id" | "email" | "tier" | "origin" | "admin" | "created_at_ms"
> & { readonly password_hash?: string };

/** Columns that are changed one by one; credits are moved with their ledger. */
export type AccountChange = Partial<
  Omit<AccountRow, "id" | "credit_balance" | "credit_entries" | "created_at_ms">
>;

export function accountOfRow(row: AccountRow) {
  const { id, email, tier, origin } = row;
  return {
    id,
    email,
    tier,
    /** Accounts made by sign-up start with stricter limits, and nobody has proved whose address it is. */
    origin,
    isAdmin: row.admin === 1,
    isDisabled: row.disabled_at_ms !== null,
    /** Above 0: its traffic is counted. Grows each time it is switched on; negative while it is off. */
    trafficSince: row.traffic_since,
    logsDecisions: row.decision_log === 1,
    // Sealed; absent: no token was made for it yet.
    ...(row.token_secret !== null && { tokenSecret: row.token_secret }),
    // What `SecondFactors` keeps; absent: the password alone signs in.
    ...(row.second_factor !== null && { secondFactor: row.second_factor }),
    creditBalance: row.credit_balance,
    ...(row.limits !== null && { limits: JSON.parse(row.limits) as AccountLimits }),
    createdAtMs: row.created_at_ms,
  };
}

export type Account = ReturnType<typeof accountOfRow>;

export interface FoundAccounts {
  readonly accounts: readonly Account[];
  readonly total: number;
}

export const ACCOUNT_STATES = ["admin", "disabled", "signed_up"] as const;
type AccountState = (typeof ACCOUNT_STATES)[number];

export interface SoughtAccounts {
  /** Finds accounts whose e-mail address or id contains this text; case does not matter. */
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
  "watched",
  "watch_events",
  "alerts",
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

export class Accounts {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async create(made: NewAccount): Promise<Account | undefined> {
    const counts = { credit_balance: 0, credit_entries: 0, traffic_since: FIRST_TRAFFIC };
    const row = await this.#db
      .insertInto("accounts")
      .values({ ...made, ...counts, decision_log: 0 })
      .onConflict((conflict) => conflict.column("email").doNothing())
      .returningAll()
      .executeTakeFirst();
    return row && accountOfRow(row);
  }

  async find(idOrEmail: string): Promise<Account | undefined> {
    const is = idOrEmail.includes("@") ? { email: idOrEmail } : { id: idOrEmail };
    const row = await findRow(this.#db, "accounts", is);
    return row && accountOfRow(row);
  }

  async list(afterEmail: string, limit: number): Promise<readonly Account[]> {
    const all = this.#db.selectFrom("accounts").selectAll().orderBy("email");
    return (await all.where("email", ">", afterEmail).limit(limit).execute()).map(accountOfRow);
  }

  async change(id: string, columns: AccountChange): Promise<boolean> {
    return (await changeRows(this.#db, "accounts", { id }, columns)) === 1;
  }

  /** Keeps the secret unless there is one; gives what stands. Undefined when there is no such account. */
  async agreeTokenSecret(id: string, sealed: string): Promise<string | undefined> {
    await changeRows(this.#db, "accounts", { id, token_secret: null }, { token_secret: sealed });
    return (await findRow(this.#db, "accounts", { id }))?.token_secret ?? undefined;
  }

  async replaceSecondFactor(id: string, was: string | null, is: string): Promise<boolean> {
    const known = { id, second_factor: was };
    return (await changeRows(this.#db, "accounts", known, { second_factor: is })) === 1;
  }

  async passwordHash(id: string): Promise<string | undefined> {
    return (await findRow(this.#db, "accounts", { id }))?.password_hash ?? undefined;
  }

  async search({ skip = 0, ...sought }: SoughtAccounts, limit: number): Promise<FoundAccounts> {
    const all = this.#db.selectFrom("accounts");
    const matching = all.where((is) => is.and(conditionsOf(sought)));
    const rows = await matching.selectAll().orderBy("email").limit(limit).offset(skip).execute();
    return { accounts: rows.map(accountOfRow), total: await countRows(matching) };
  }

  /**
   * Ends what lets others act for the account: keys, hooks, webhook, token secret, second factor. Policies stay, and are named.
   * From now on the operator vouches for it.
   */
  async endAccess(id: string, nowMs: number) {
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
      const plain = { token_secret: null, second_factor: null, origin: "operator" } as const;
      await changeRows(tx, "accounts", { id }, plain);
      const policies = tx.selectFrom("policies").select("name").where("account_id", "=", id);
      return {
        keys: Number(revoked.numUpdatedRows),
        hooks: await deleteRows(tx, "hooks", { account_id: id }),
        webhooks: await deleteRows(tx, "webhook_endpoints", { account_id: id }),
        policies: (await policies.orderBy("name").execute()).map(({ name }) => name),
      };
    });
  }

  /** Deletes the account with everything that belongs to it, except the audit log. Returns false when there is no such account. */
  async erase(id: string): Promise<boolean> {
    return await inTransaction(this.#db, async (tx) => {
      await lockAccount(tx, id); // nothing that refers to it comes in between
      const hooks = tx.sql.selectFrom("hooks").select("id").where("account_id", "=", id);
      await tx.sql.deleteFrom("hook_counts").where("hook_id", "in", hooks).execute();
      const lists = tx.sql.selectFrom("account_lists").select("id").where("account_id", "=", id);
      await tx.sql.deleteFrom("account_list_parts").where("list", "in", lists).execute();
      for (const table of OF_ACCOUNT) await deleteRows(tx.sql, table, { account_id: id });
      const wishes = { account_id: id, action: EMAIL_ASKED };
      await changeRows(tx.sql, "audit_entries", wishes, { detail: "" });
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

export type EndedAccess = Awaited<ReturnType<Accounts["endAccess"]>>;
