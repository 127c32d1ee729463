import type { CompiledQuery, Kysely } from "kysely";
import { DEFAULT_NAME } from "../core/policy/default-policy.ts";
import {
  type ApiKey,
  type Keys,
  type NewApiKey,
  PAGE_DAILY,
  type PageTerms,
} from "./admission/keys.ts";
import { account } from "./accounts-store.ts";
import { isLivePolicy, lockPolicies } from "../store/live-policy.ts";
import type { Database } from "../store/schema.ts";
import type { AccountRow, ApiKeyRow } from "../store/tables/accounts.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";

function apiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.last_four,
    createdAtMs: row.created_at_ms,
    ...(row.last_used_at_ms !== null && { lastUsedAtMs: row.last_used_at_ms }),
    ...(row.revoked_at_ms !== null && { revokedAtMs: row.revoked_at_ms }),
    ...originsOf(row),
  };
}

/** Written by `newRow` and `setOrigins`. */
const originsOf = ({ origins, page }: PageColumns): Pick<ApiKey, "origins" | "page"> => {
  if (origins === null) return {};
  const terms = page === null ? STANDARD : (JSON.parse(page) as PageTerms);
  return { origins: JSON.parse(origins) as readonly string[], page: terms };
};

type PageColumns = Pick<ApiKeyRow, "origins" | "page">;
const STANDARD: PageTerms = { policy: DEFAULT_NAME, daily: PAGE_DAILY };

async function createIn(
  tx: Tx,
  key: NewApiKey,
  limit: number,
): Promise<"created" | "full" | "no_policy"> {
  const { sql } = tx;
  // Touching the account's row lets its keys be made one after the other (PostgreSQL).
  await sql
    .updateTable("accounts")
    .set({ id: key.accountId })
    .where("id", "=", key.accountId)
    .execute();
  const { inForce } = await sql
    .selectFrom("api_keys")
    .select((build) => build.fn.countAll().as("inForce"))
    .where("account_id", "=", key.accountId)
    .where("revoked_at_ms", "is", null)
    .executeTakeFirstOrThrow();
  if (Number(inForce) >= limit) return "full";
  if (key.page !== undefined) {
    await lockPolicies(tx, key.accountId);
    const named = { accountId: key.accountId, name: key.page.policy };
    if (!(await isLivePolicy(sql, named))) return "no_policy";
  }
  await forgetRevoked(sql, key.accountId);
  await sql.insertInto("api_keys").values(newRow(key)).execute();
  return "created";
}

/** Revoked keys of an account that stay listed; with all of them each look at the list would cost as much as was ever made. */
const REVOKED_KEPT = 100;

async function forgetRevoked(sql: Tx["sql"], accountId: string): Promise<void> {
  const last = await sql
    .selectFrom("api_keys")
    .select("revoked_at_ms")
    .where("account_id", "=", accountId)
    .where("revoked_at_ms", "is not", null)
    .orderBy("revoked_at_ms", "desc")
    .limit(1)
    .offset(REVOKED_KEPT - 1)
    .executeTakeFirst();
  if (last === undefined) return;
  await sql
    .deleteFrom("api_keys")
    .where("account_id", "=", accountId)
    .where("revoked_at_ms", "<", last.revoked_at_ms)
    .execute();
}

function newRow(key: NewApiKey): ApiKeyRow {
  return {
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    key_hash: key.hash,
    prefix: key.prefix,
    last_four: key.lastFour,
    created_at_ms: key.createdAtMs,
    last_used_at_ms: null,
    revoked_at_ms: null,
    origins: key.origins === undefined ? null : JSON.stringify(key.origins),
    page: key.page === undefined ? null : JSON.stringify(key.page),
  };
}

async function setOrigins(
  db: Kysely<Database>,
  id: string,
  origins: readonly string[],
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("api_keys")
    .set({ origins: JSON.stringify(origins) })
    .where("id", "=", id)
    .where("origins", "is not", null)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

type HolderRow = AccountRow & PageColumns & { readonly key_id: string };

/** Built once: every key in use is asked for every few seconds. The parameter is the hash. */
function holderQuery(db: Kysely<Database>): CompiledQuery<HolderRow> {
  return db
    .selectFrom("api_keys")
    .innerJoin("accounts", "accounts.id", "api_keys.account_id")
    .select(["api_keys.id as key_id", "api_keys.origins", "api_keys.page"]) // first, as in `find` of session-store.ts
    .selectAll("accounts")
    .where("api_keys.revoked_at_ms", "is", null)
    .where("api_keys.key_hash", "=", "")
    .compile();
}

export function sqlKeys(db: Kysely<Database>): Keys {
  const holder = holderQuery(db);
  return {
    create: (key, limit) => inTransaction(db, (tx) => createIn(tx, key, limit)),
    async list(accountId) {
      const rows = await db
        .selectFrom("api_keys")
        .selectAll()
        .where("account_id", "=", accountId)
        .orderBy("created_at_ms")
        .orderBy("id")
        .execute();
      return rows.map(apiKey);
    },
    async find(id) {
      const row = await db
        .selectFrom("api_keys")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst();
      return row && apiKey(row);
    },
    async holder(hash) {
      const { rows } = await db.executeQuery<HolderRow>({ ...holder, parameters: [hash] });
      const [row] = rows;
      if (row === undefined) return undefined;
      return { keyId: row.key_id, account: account(row), ...originsOf(row) };
    },
    async revoke(id, nowMs) {
      const found = await db
        .updateTable("api_keys")
        .set((build) => ({
          revoked_at_ms: build.fn.coalesce("revoked_at_ms", build.val(nowMs)),
        }))
        .where("id", "=", id)
        .executeTakeFirst();
      return Number(found.numUpdatedRows) === 1;
    },
    setOrigins: (id, origins) => setOrigins(db, id, origins),
    async touch(ids, nowMs) {
      if (ids.length > 0) await inTransaction(db, (tx) => touchIn(tx, ids, nowMs));
    },
  };
}

/**
 * One statement a key: the database keeps a statement prepared for each text, and keys come in any number.
 * In order, so that no two processes wait for each other's rows.
 */
async function touchIn({ sql }: Tx, ids: readonly string[], nowMs: number): Promise<void> {
  for (const id of ids.toSorted()) {
    await sql
      .updateTable("api_keys")
      .set({ last_used_at_ms: nowMs })
      .where("id", "=", id)
      .where((build) =>
        build.or([build("last_used_at_ms", "is", null), build("last_used_at_ms", "<", nowMs)]),
      )
      .execute();
  }
}
