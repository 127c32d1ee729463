import type { Kysely } from "kysely";
import {
  type Account,
  type AccountChange,
  type Accounts,
  FIRST_TRAFFIC,
  type NewAccount,
} from "./account.ts";
import type { Database } from "../store/schema.ts";
import type { AccountRow } from "../store/tables/accounts.ts";

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
    created_at_ms: made.createdAtMs,
  };
}

function changedColumns(change: AccountChange, nowMs: number): Partial<AccountRow> {
  const { tier, isAdmin, isDisabled, trafficSince, passwordHash, tokenSecret } = change;
  return {
    ...(tier !== undefined && { tier }),
    ...(isAdmin !== undefined && { admin: isAdmin ? 1 : 0 }),
    ...(isDisabled !== undefined && { disabled_at_ms: isDisabled ? nowMs : null }),
    ...(trafficSince !== undefined && { traffic_since: trafficSince }),
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
      // An id holds no "@", so one of the two can match at the most.
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
