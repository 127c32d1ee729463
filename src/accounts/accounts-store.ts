import type { Kysely } from "kysely";
import { changeRows, findRow } from "../store/rows.ts";
import type { AccountRow, Database } from "../store/schema.ts";

/** The plans an account can have; what they allow is the tier table of the service. */
export const ACCOUNT_TIERS = ["free", "starter", "pro"] as const;
export type AccountTier = (typeof ACCOUNT_TIERS)[number];

/** Numbers that the operator gave one account in place of its plan's; null: no limit. */
export interface AccountLimits {
  readonly ratePerMinute?: number | null;
  readonly daily?: number | null;
  readonly monthly?: number | null;
  readonly bulkLimit?: number | null;
}

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
  /** What `SecondFactors` keeps; absent: the password alone signs in. */
  readonly secondFactor?: string;
  readonly creditBalance: number;
  /** In place of the plan's numbers. */
  readonly limits?: AccountLimits;
  readonly createdAtMs: number;
}

const FIRST_TRAFFIC = 1;

export interface NewAccount extends Pick<
  Account,
  "id" | "email" | "tier" | "origin" | "isAdmin" | "createdAtMs"
> {
  /** PHC string; absent: nobody can log in. */
  readonly passwordHash?: string;
}

/** Columns that are changed one by one; credits are moved with their ledger. */
export type AccountChange = Partial<
  Omit<AccountRow, "id" | "credit_balance" | "credit_entries" | "created_at_ms" | "origin">
>;

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
    ...(row.second_factor !== null && { secondFactor: row.second_factor }),
    creditBalance: row.credit_balance,
    ...(row.limits !== null && { limits: JSON.parse(row.limits) as AccountLimits }),
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
    second_factor: null,
    traffic_since: FIRST_TRAFFIC,
    decision_log: 0,
    limits: null,
    created_at_ms: made.createdAtMs,
  };
}

/** Who may use the service. Rules are checked by `test/contracts/account/accounts.ts`. */
export class Accounts {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Undefined, with nothing changed, when the e-mail address is taken. */
  async create(made: NewAccount): Promise<Account | undefined> {
    const inserting = this.#db.insertInto("accounts").values(newRow(made));
    const row = await inserting
      .onConflict((conflict) => conflict.column("email").doNothing())
      .returningAll()
      .executeTakeFirst();
    return row && account(row);
  }

  async find(idOrEmail: string): Promise<Account | undefined> {
    const is = idOrEmail.includes("@") ? { email: idOrEmail } : { id: idOrEmail };
    const row = await findRow(this.#db, "accounts", is);
    return row && account(row);
  }

  /** At most `limit` accounts in the order of their e-mail addresses, those after `afterEmail`. */
  async list(afterEmail: string, limit: number): Promise<readonly Account[]> {
    const all = this.#db.selectFrom("accounts").selectAll().orderBy("email");
    return (await all.where("email", ">", afterEmail).limit(limit).execute()).map(account);
  }

  /** False when there is no such account. */
  async change(id: string, columns: AccountChange): Promise<boolean> {
    return (await changeRows(this.#db, "accounts", { id }, columns)) === 1;
  }

  /** Keeps the secret unless there is one; gives what stands. Undefined when there is no such account. */
  async agreeTokenSecret(id: string, sealed: string): Promise<string | undefined> {
    await changeRows(this.#db, "accounts", { id, token_secret: null }, { token_secret: sealed });
    return (await findRow(this.#db, "accounts", { id }))?.token_secret ?? undefined;
  }

  /** False when another one stands by now. */
  async replaceSecondFactor(id: string, was: string | null, is: string): Promise<boolean> {
    const known = { id, second_factor: was };
    return (await changeRows(this.#db, "accounts", known, { second_factor: is })) === 1;
  }

  async passwordHash(id: string): Promise<string | undefined> {
    return (await findRow(this.#db, "accounts", { id }))?.password_hash ?? undefined;
  }
}
