import { type ExpressionBuilder, sql as raw } from "kysely";
import type { PageTerms } from "../accounts/key-store.ts";
import { BUILT_IN_DOCUMENTS, DEFAULT_VERSION } from "../core/policy/default-policy.ts";
import { POLICY_MAX_BYTES } from "../core/policy/parse-policy.ts";
import { lockPolicies, type PolicyName } from "../store/live-policy.ts";
import { changeRows, countRows, deleteRows, findRow, insertRow, putRow } from "../store/rows.ts";
import type { Database, Db } from "../store/schema.ts";
import type { PolicyRow, PolicyVersionRow } from "../store/tables/policy.ts";
import { inTransaction } from "../store/transaction.ts";

/**
 * Of one account. The versions that run always stay, because 50 policies of 64 KB, each live and in shadow, fit in the octets;
 * the oldest of the others go first.
 */
export const POLICY_LIMITS = {
  policiesMax: 50,
  versionsMax: 500,
  allVersionsMax: 5_000,
  octetsMax: 2 * 50 * POLICY_MAX_BYTES,
};

type PolicyLimits = typeof POLICY_LIMITS;

export type Sql = Db;

const hasRunning = (build: ExpressionBuilder<Database, "policies">) =>
  build.or([build("live_version", "is not", null), build("shadow_version", "is not", null)]);

const running = (sql: Sql, accountId: string) =>
  sql.selectFrom("policies").where("account_id", "=", accountId).where(hasRunning);

/** `usedBy`: "hook 0123abcd (kratos)". */
type PolicyRemoval =
  | { readonly kind: "removed" | "unknown" }
  | { readonly kind: "in_use"; readonly usedBy: readonly string[] };

export class PolicyStore {
  readonly #db: Sql;

  constructor(db: Sql) {
    this.#db = db;
  }

  /** Gives the version's number; `pruned` old ones went for it. Undefined: the account has `policiesMax` other policies. */
  save(
    made: Omit<PolicyVersionRow, "version">,
    as: "live" | "shadow",
    limits = POLICY_LIMITS,
  ): Promise<{ readonly version: number; readonly pruned: number } | undefined> {
    const { account_id, name } = made;
    return inTransaction(this.#db, async (tx) => {
      const { sql } = tx;
      await lockPolicies(tx, account_id);
      const others = await countRows(running(sql, account_id).where("name", "!=", name));
      if (others >= limits.policiesMax) return undefined;
      const known = await findRow(sql, "policies", { account_id, name });
      const first = BUILT_IN_DOCUMENTS.has(name) ? DEFAULT_VERSION + 1 : 1;
      const version = known?.next_version ?? first;
      const { live_version = null, shadow_version = null } = known ?? {};
      const runs = as === "live" ? { live_version: version } : { shadow_version: version };
      const versions = { live_version, shadow_version, ...runs, next_version: version + 1 };
      await putRow(sql, "policies", { account_id, name }, versions);
      await insertRow(sql, "policy_versions", { ...made, version });
      return { version, pruned: await prune(sql, account_id, limits) };
    });
  }

  list(accountId: string): Promise<readonly PolicyRow[]> {
    return running(this.#db, accountId).selectAll().orderBy("name").execute();
  }

  async inForce(accountId: string, name: string) {
    const known = await findRow(this.#db, "policies", { account_id: accountId, name });
    return {
      live: await this.version(accountId, name, known?.live_version),
      shadow: await this.version(accountId, name, known?.shadow_version),
    };
  }

  async version(
    account_id: string,
    name: string,
    version: number | null | undefined,
  ): Promise<PolicyVersionRow | undefined> {
    if (version === null || version === undefined) return undefined;
    return await findRow(this.#db, "policy_versions", { account_id, name, version });
  }

  versions(account_id: string, name: string, limit: number): Promise<readonly PolicyVersionRow[]> {
    const all = this.#db.selectFrom("policy_versions").selectAll().orderBy("version", "desc");
    return all
      .where((is) => is.and({ account_id, name }))
      .limit(limit)
      .execute();
  }

  /** Ends the shadow, or makes a version it. False when there is no such policy or version. */
  setShadow(account_id: string, name: string, version: number | undefined): Promise<boolean> {
    const key = { account_id, name };
    if (version === undefined) return change(this.#db, key, { shadow_version: null });
    return inTransaction(this.#db, async (tx) => {
      await lockPolicies(tx, account_id);
      const there = await findRow(tx.sql, "policy_versions", { ...key, version });
      if (there === undefined) return false;
      return (await changeRows(tx.sql, "policies", key, { shadow_version: version })) === 1;
    });
  }

  promote(accountId: string, name: string): Promise<number | undefined> {
    const key = { account_id: accountId, name };
    return inTransaction(this.#db, async (tx) => {
      await lockPolicies(tx, accountId);
      const shadow = (await findRow(tx.sql, "policies", key))?.shadow_version ?? undefined;
      if (shadow === undefined) return undefined;
      await change(tx.sql, key, { live_version: shadow, shadow_version: null });
      return shadow;
    });
  }

  /** No version of it runs any more; the versions stay to be read. Nothing changes while something uses it. */
  remove(accountId: string, name: string): Promise<PolicyRemoval> {
    return inTransaction(this.#db, async (tx) => {
      await lockPolicies(tx, accountId);
      // Whoever uses it then gets the built-in one.
      const usedBy = BUILT_IN_DOCUMENTS.has(name) ? [] : await usersOf(tx.sql, { accountId, name });
      if (usedBy.length > 0) return { kind: "in_use", usedBy };
      const none = { live_version: null, shadow_version: null };
      const removed = await change(tx.sql, { account_id: accountId, name }, none);
      return { kind: removed ? "removed" : "unknown" };
    });
  }
}

/** Deletes the old versions beyond `limits`, and the names of removed policies that have none left. */
async function prune(sql: Sql, accountId: string, limits: PolicyLimits): Promise<number> {
  const isRunning = raw<number>`case when v.version in (p.live_version, p.shadow_version) then 1 else 0 end`;
  const newest = raw`order by ${isRunning} desc, v.created_at_ms desc, v.version desc, v.name`;
  const ranked = sql
    .selectFrom("policy_versions as v")
    .innerJoin("policies as p", (join) =>
      join.onRef("p.account_id", "=", "v.account_id").onRef("p.name", "=", "v.name"),
    )
    .where("v.account_id", "=", accountId)
    .select([
      "v.name",
      "v.version",
      isRunning.as("runs"),
      raw<number>`row_number() over (partition by v.name order by v.version desc)`.as("place"),
      raw<number>`row_number() over (${newest})`.as("rank"),
      raw<number>`sum(octet_length(v.document)) over (${newest})`.as("octets"),
    ]);
  const over = await sql
    .selectFrom(ranked.as("ranked"))
    .select(["name", "version"])
    .where("runs", "=", 0)
    .where((build) =>
      build.or([
        build("place", ">", limits.versionsMax),
        build("rank", ">", limits.allVersionsMax),
        build("octets", ">", limits.octetsMax),
      ]),
    )
    .execute();
  for (const { name, version: number } of over) {
    await deleteRows(sql, "policy_versions", { account_id: accountId, name, version: number });
  }
  if (over.length > 0) await forgetNames(sql, accountId);
  return over.length;
}

const forgetNames = (sql: Sql, accountId: string) =>
  sql
    .deleteFrom("policies")
    .where("account_id", "=", accountId)
    .where("live_version", "is", null)
    .where("shadow_version", "is", null)
    .where("name", "not in", (build) =>
      build.selectFrom("policy_versions").select("name").where("account_id", "=", accountId),
    )
    .execute();

/** False when no version of the policy runs. */
async function change(
  sql: Sql,
  key: Pick<PolicyRow, "account_id" | "name">,
  changed: Partial<PolicyRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable("policies")
    .set(changed)
    .where((build) => build.and(key))
    .where(hasRunning)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

async function usersOf(sql: Sql, { accountId, name }: PolicyName): Promise<readonly string[]> {
  const hooks = await sql
    .selectFrom("hooks")
    .select(["id", "system"])
    .where("account_id", "=", accountId)
    .where("policy", "=", name)
    .orderBy("id")
    .execute();
  const keys = await sql
    .selectFrom("api_keys")
    .select(["id", "name", "page"])
    .where("account_id", "=", accountId)
    .where("revoked_at_ms", "is", null)
    .where("page", "is not", null)
    .orderBy("id")
    .execute();
  const ofPages = keys.filter(
    ({ page }) => (JSON.parse(page ?? "{}") as PageTerms).policy === name,
  );
  return [
    ...hooks.map(({ id, system }) => `hook ${id} (${system})`),
    ...ofPages.map((key) => `key ${key.id} (${key.name})`),
  ];
}
