import type { Kysely } from "kysely";
import type { AccountRow, Database } from "../store/schema.ts";

/** The plans an account can have; what they allow is the tier table of the service. */
export const ACCOUNT_TIERS = ["free", "starter", "pro"] as const;
export type AccountTier = (typeof ACCOUNT_TIERS)[number];

export interface Account {
  readonly id: string;
  /** Lower case; unique. */
  readonly email: string;
  readonly tier: AccountTier;
  /** Who made it: accounts made by sign-up start with stricter limits. */
  readonly origin: "operator" | "signup";
  readonly isAdmin: boolean;
  readonly isDisabled: boolean;
  /** Above 0: its traffic is counted. Grows each time it is switched on; negative while it is off. */
  readonly trafficSince: number;
  readonly logsDecisions: boolean;
  /** Sealed; absent: no token was made for it yet. */
  readonly tokenSecret?: string;
  readonly creditBalance: number;
  readonly createdAtMs: number;
}

export const FIRST_TRAFFIC = 1;

export interface NewAccount extends Pick<
  Account,
  "id" | "email" | "tier" | "origin" | "isAdmin" | "createdAtMs"
> {
  /** PHC string; absent: nobody can log in. */
  readonly passwordHash?: string;
}

interface AccountChange {
  readonly email?: string;
  readonly tier?: AccountTier;
  readonly isAdmin?: boolean;
  readonly isDisabled?: boolean;
  readonly trafficSince?: number;
  readonly logsDecisions?: boolean;
  readonly passwordHash?: string;
  readonly tokenSecret?: string;
}

/** Who may use the service. Rules are checked by `test/contracts/account/accounts.ts`. */
export interface Accounts {
  /** False, with nothing changed, when the e-mail address is taken. */
  create(account: NewAccount): Promise<boolean>;
  find(idOrEmail: string): Promise<Account | undefined>;
  /** At most `limit` accounts in the order of their e-mail addresses, those after `afterEmail`. */
  list(afterEmail: string, limit: number): Promise<readonly Account[]>;
  /** `nowMs` is noted where it matters. False when there is no such account. */
  change(id: string, change: AccountChange, nowMs: number): Promise<boolean>;
  /** Keeps the secret unless there is one; gives what stands. Undefined when there is no such account. */
  agreeTokenSecret(id: string, sealed: string): Promise<string | undefined>;
  passwordHash(id: string): Promise<string | undefined>;
}

export function account(row: AccountRow): Account {
  const { id, email, tier, origin } = row;
  return {
    id,
    email,
    tier,
    origin,
    isAdmin: row.admin === 1,
    isDisabled: row.disabled_at_ms !== null,
    trafficSince: row.traffic_since,
    logsDecisions: row.decision_log === 1,
    ...(row.token_secret !== null && { tokenSecret: row.token_secret }),
    creditBalance: row.credit_balance,
    createdAtMs: row.created_at_ms,
  };
}

function newRow({ id, email, tier, origin, ...made }: NewAccount): AccountRow {
  return {
    id,
    email,
    tier,
    origin,
    admin: made.isAdmin ? 1 : 0,
    credit_balance: 0,
    credit_entries: 0,
    password_hash: made.passwordHash ?? null,
    disabled_at_ms: null,
    token_secret: null,
    traffic_since: FIRST_TRAFFIC,
    decision_log: 0,
    created_at_ms: made.createdAtMs,
  };
}

function changedColumns(change: AccountChange, nowMs: number): Partial<AccountRow> {
  const {
    email,
    tier,
    isAdmin,
    isDisabled,
    trafficSince,
    logsDecisions,
    passwordHash,
    tokenSecret,
  } = change;
  return {
    ...(email !== undefined && { email }),
    ...(tier !== undefined && { tier }),
    ...(isAdmin !== undefined && { admin: isAdmin ? 1 : 0 }),
    ...(isDisabled !== undefined && { disabled_at_ms: isDisabled ? nowMs : null }),
    ...(trafficSince !== undefined && { traffic_since: trafficSince }),
    ...(logsDecisions !== undefined && { decision_log: logsDecisions ? 1 : 0 }),
    ...(passwordHash !== undefined && { password_hash: passwordHash }),
    ...(tokenSecret !== undefined && { token_secret: tokenSecret }),
  };
}

export function sqlAccounts(db: Kysely<Database>): Accounts {
  return {
    async create(made) {
      const inserted = await db
        .insertInto("accounts")
        .values(newRow(made))
        .onConflict((conflict) => conflict.column("email").doNothing())
        .executeTakeFirst();
      return Number(inserted.numInsertedOrUpdatedRows) === 1;
    },
    async find(idOrEmail) {
      const row = await db
        .selectFrom("accounts")
        .selectAll()
        .where(idOrEmail.includes("@") ? "email" : "id", "=", idOrEmail)
        .executeTakeFirst();
      return row === undefined ? undefined : account(row);
    },
    async list(afterEmail, limit) {
      const rows = await db
        .selectFrom("accounts")
        .selectAll()
        .where("email", ">", afterEmail)
        .orderBy("email")
        .limit(limit)
        .execute();
      return rows.map(account);
    },
    async change(id, change, nowMs) {
      const changed = await db
        .updateTable("accounts")
        .set({ ...changedColumns(change, nowMs), id })
        .where("id", "=", id)
        .executeTakeFirst();
      return Number(changed.numUpdatedRows) === 1;
    },
    async agreeTokenSecret(id, sealed) {
      await db
        .updateTable("accounts")
        .set({ token_secret: sealed })
        .where("id", "=", id)
        .where("token_secret", "is", null)
        .execute();
      const row = await db
        .selectFrom("accounts")
        .select("token_secret")
        .where("id", "=", id)
        .executeTakeFirst();
      return row?.token_secret ?? undefined;
    },
    async passwordHash(id) {
      const row = await db
        .selectFrom("accounts")
        .select("password_hash")
        .where("id", "=", id)
        .executeTakeFirst();
      return row?.password_hash ?? undefined;
    },
  };
}
