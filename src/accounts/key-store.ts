import { type CompiledQuery, sql as raw } from "kysely";
import { DEFAULT_NAME } from "../core/policy/default-policy.ts";
import { isLivePolicy, lockPolicies } from "../store/live-policy.ts";
import { changeRows, countRows, findRow, insertRow } from "../store/rows.ts";
import { keepNewest } from "../store/prune.ts";
import type { AccountRow, ApiKeyRow, Db } from "../store/schema.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";
import { type Account, accountOfRow } from "./accounts-store.ts";

/** Terms that are fixed with a publishable key, so that a page cannot choose them. */
export interface PageTerms {
  readonly policy: string;
  readonly form?: string;
  /** Decisions of a UTC day that may cost a unit. */
  readonly daily: number;
}

export const PAGE_DAILY = 2_000;

export type ApiKey = Omit<ApiKeyRow, "key_hash">;

export interface KeyHolder {
  readonly keyId: string;
  readonly account: Account;
  readonly origins?: readonly string[];
  readonly page?: PageTerms;
}

const SHOWN = [
  ...(["id", "account_id", "name", "prefix", "last_four", "created_at_ms"] as const),
  ...(["last_used_at_ms", "revoked_at_ms", "origins", "page"] as const),
];

type PageColumns = Pick<ApiKeyRow, "origins" | "page">;

/** Nothing for a secret key. */
export const originsOf = ({ origins, page }: PageColumns): Pick<KeyHolder, "origins" | "page"> => {
  if (origins === null) return {};
  const terms = page === null ? STANDARD : (JSON.parse(page) as PageTerms);
  return { origins: JSON.parse(origins) as readonly string[], page: terms };
};

const STANDARD: PageTerms = { policy: DEFAULT_NAME, daily: PAGE_DAILY };

type KeyMade = "created" | "full" | "no_policy";

/** Revoked keys of an account that stay listed. With all of them each look at the list would cost as much as was ever made. */
const REVOKED_KEPT = 100;

async function createIn(tx: Tx, key: ApiKeyRow, limit: number): Promise<KeyMade> {
  const { sql } = tx;
  const { account_id: id, page } = key;
  // Touching the account's row lets its keys be made one after the other (PostgreSQL).
  await changeRows(sql, "accounts", { id }, { id });
  const inForce = sql
    .selectFrom("api_keys")
    .where("account_id", "=", id)
    .where("revoked_at_ms", "is", null);
  if ((await countRows(inForce)) >= limit) return "full";
  if (page !== null) {
    await lockPolicies(tx, id);
    const { policy: name } = JSON.parse(page) as PageTerms;
    if (!(await isLivePolicy(sql, { accountId: id, name }))) return "no_policy";
  }
  const only = raw`revoked_at_ms is not null`;
  await keepNewest(tx, "api_keys", id, REVOKED_KEPT, { column: "revoked_at_ms", only });
  await insertRow(sql, "api_keys", key);
  return "created";
}

type HolderRow = AccountRow & PageColumns & { readonly key_id: string };

/** Built once: every key in use is asked for every few seconds. The parameter is the hash. */
function holderQuery(db: Db): CompiledQuery<HolderRow> {
  return db
    .selectFrom("api_keys")
    .innerJoin("accounts", "accounts.id", "api_keys.account_id")
    .select(["api_keys.id as key_id", "api_keys.origins", "api_keys.page"]) // first, as in `find` of session-store.ts
    .selectAll("accounts")
    .where("api_keys.revoked_at_ms", "is", null)
    .where("api_keys.key_hash", "=", "")
    .compile();
}

/** Keys of accounts, found by their hash. Rules are checked by `test/contracts/account/accounts.ts`. */
export class Keys {
  readonly #db: Db;
  readonly #holder: CompiledQuery<HolderRow>;

  constructor(db: Db) {
    this.#db = db;
    this.#holder = holderQuery(db);
  }

  /** Changes nothing if the account has `limit` active keys, or no such policy. Keeps the newest 100 revoked keys. */
  create(key: ApiKeyRow, limit: number): Promise<KeyMade> {
    return inTransaction(this.#db, (tx) => createIn(tx, key, limit));
  }

  list(accountId: string): Promise<readonly ApiKey[]> {
    const all = this.#db.selectFrom("api_keys").select(SHOWN).where("account_id", "=", accountId);
    return all.orderBy("created_at_ms").orderBy("id").execute();
  }

  find(id: string): Promise<ApiKey | undefined> {
    return this.#db.selectFrom("api_keys").select(SHOWN).where("id", "=", id).executeTakeFirst();
  }

  async holder(hash: string): Promise<KeyHolder | undefined> {
    const { rows } = await this.#db.executeQuery<HolderRow>({
      ...this.#holder,
      parameters: [hash],
    });
    const [row] = rows;
    return row && { keyId: row.key_id, account: accountOfRow(row), ...originsOf(row) };
  }

  /** Returns false when there is no such key. A key that was revoked before keeps that time. */
  async revoke(id: string, nowMs: number): Promise<boolean> {
    await changeRows(this.#db, "api_keys", { id, revoked_at_ms: null }, { revoked_at_ms: nowMs });
    return (await findRow(this.#db, "api_keys", { id })) !== undefined;
  }

  async rename(id: string, name: string): Promise<void> {
    await changeRows(this.#db, "api_keys", { id }, { name });
  }

  /** One statement a key, as the database prepares each text; in order, so that no two processes wait for each other. */
  async touch(ids: readonly string[], nowMs: number): Promise<void> {
    if (ids.length === 0) return;
    await inTransaction(this.#db, async ({ sql }) => {
      for (const id of ids.toSorted()) {
        const key = sql.updateTable("api_keys").set({ last_used_at_ms: nowMs });
        const isNews = raw<boolean>`(last_used_at_ms is null or last_used_at_ms < ${nowMs})`;
        await key.where("id", "=", id).where(isNews).execute();
      }
    });
  }
}
