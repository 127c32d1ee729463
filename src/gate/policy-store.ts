import { type ExpressionBuilder, type Kysely, sql as raw } from "kysely";
import { BUILT_IN_DOCUMENTS } from "../core/policy/default-policy.ts";
import type { PageTerms } from "../accounts/keys.ts";
import { changeRows, countRows, deleteRows, findRow, insertRow } from "../store/rows.ts";
import type { Database } from "../store/schema.ts";
import { lockPolicies, type PolicyName } from "../store/live-policy.ts";
import { inTransaction } from "../store/transaction.ts";
import type { PolicyRow, PolicyVersionRow } from "../store/tables/policy.ts";

export interface PolicyVersion {
  /** From 1; the built-in `default` is version 1, so that what an account saves under this name starts at 2. */
  readonly version: number;
  readonly document: string;
  /** Who saved it: an e-mail address, or the operator's name on the command line. */
  readonly author: string;
  readonly createdAtMs: number;
}

export interface PolicyHead {
  readonly name: string;
  /** Absent: none of the account's own is live. */
  readonly live?: number;
  /** Runs beside the live one and decides nothing. */
  readonly shadow?: number;
}

export interface PolicyInForce {
  readonly live?: PolicyVersion;
  readonly shadow?: PolicyVersion;
}

export interface NewPolicyVersion extends Omit<PolicyVersion, "version"> {
  readonly accountId: string;
  readonly name: string;
  readonly as: "live" | "shadow";
  readonly firstVersion: number;
}

/** Of one account. The versions that run fit in `octetsMax` and always stay; the oldest of the others go first. */
export interface PolicyLimits {
  readonly policiesMax: number;
  /** Of one policy. */
  readonly versionsMax: number;
  readonly allVersionsMax: number;
  /** Of the documents of all versions. */
  readonly octetsMax: number;
}

/** `pruned`: how many old versions were deleted for it, of any policy of the account. */
export interface SavedVersion {
  readonly version: number;
  readonly pruned: number;
}

/** `usedBy`: "hook 0123abcd (kratos)". */
export type PolicyRemoval =
  | { readonly kind: "removed" | "unknown" }
  | { readonly kind: "in_use"; readonly usedBy: readonly string[] };

type Sql = Kysely<Database>;

const version = (row: Omit<PolicyVersionRow, "account_id" | "name">): PolicyVersion => ({
  version: row.version,
  document: row.document,
  author: row.author,
  createdAtMs: row.created_at_ms,
});

const head = ({ name, live_version: live, shadow_version: shadow }: PolicyRow): PolicyHead => ({
  name,
  ...(live !== null && { live }),
  ...(shadow !== null && { shadow }),
});

const hasRunning = (build: ExpressionBuilder<Database, "policies">) =>
  build.or([build("live_version", "is not", null), build("shadow_version", "is not", null)]);

const running = (sql: Sql, accountId: string) =>
  sql.selectFrom("policies").where("account_id", "=", accountId).where(hasRunning);

/** Rules are checked by `test/contracts/policy/policy-store.ts`. */
export class PolicyStore {
  readonly #db: Sql;

  constructor(db: Sql) {
    this.#db = db;
  }

  /** Its number, above all that were saved under the name. Undefined: the account has `policiesMax` other policies. */
  save(made: NewPolicyVersion, limits: PolicyLimits): Promise<SavedVersion | undefined> {
    const { accountId, name, document, author, createdAtMs } = made;
    const key = { account_id: accountId, name };
    return inTransaction(this.#db, async (tx) => {
      const { sql } = tx;
      await lockPolicies(tx, accountId);
      const others = await countRows(running(sql, accountId).where("name", "!=", name));
      if (others >= limits.policiesMax) return undefined;
      const known = await findRow(sql, "policies", key);
      const number = known?.next_version ?? made.firstVersion;
      const { live_version = null, shadow_version = null } = known ?? {};
      const runs = made.as === "live" ? { live_version: number } : { shadow_version: number };
      const row = { ...key, live_version, shadow_version, ...runs, next_version: number + 1 };
      await sql
        .insertInto("policies")
        .values(row)
        .onConflict((conflict) => conflict.columns(["account_id", "name"]).doUpdateSet(row))
        .execute();
      const version = { ...key, version: number, document, author, created_at_ms: createdAtMs };
      await insertRow(sql, "policy_versions", version);
      return { version: number, pruned: await prune(sql, accountId, limits) };
    });
  }

  /** By name; those with a version that runs. */
  async list(accountId: string): Promise<readonly PolicyHead[]> {
    const rows = await running(this.#db, accountId).selectAll().orderBy("name").execute();
    return rows.map(head);
  }

  async inForce(accountId: string, name: string): Promise<PolicyInForce> {
    const known = await findRow(this.#db, "policies", { account_id: accountId, name });
    const live = await this.version(accountId, name, known?.live_version);
    const shadow = await this.version(accountId, name, known?.shadow_version);
    return { ...(live !== undefined && { live }), ...(shadow !== undefined && { shadow }) };
  }

  async version(
    accountId: string,
    name: string,
    number: number | null | undefined,
  ): Promise<PolicyVersion | undefined> {
    if (number === null || number === undefined) return undefined;
    const key = { account_id: accountId, name, version: number };
    const found = await findRow(this.#db, "policy_versions", key);
    return found && version(found);
  }

  async versions(
    accountId: string,
    name: string,
    limit: number,
  ): Promise<readonly PolicyVersion[]> {
    const rows = await this.#db
      .selectFrom("policy_versions")
      .selectAll()
      .where("account_id", "=", accountId)
      .where("name", "=", name)
      .orderBy("version", "desc")
      .limit(limit)
      .execute();
    return rows.map(version);
  }

  /** Ends the shadow, or makes a version it. False when there is no such policy or version. */
  setShadow(accountId: string, name: string, number: number | undefined): Promise<boolean> {
    const key = { account_id: accountId, name };
    if (number === undefined) return change(this.#db, key, { shadow_version: null });
    return inTransaction(this.#db, async (tx) => {
      await lockPolicies(tx, accountId);
      const there = await findRow(tx.sql, "policy_versions", { ...key, version: number });
      if (there === undefined) return false;
      return (await changeRows(tx.sql, "policies", key, { shadow_version: number })) === 1;
    });
  }

  /** The shadow becomes live; its number, or undefined when there is none. */
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
