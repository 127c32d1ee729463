import type { ExpressionBuilder, Kysely } from "kysely";
import { DEFAULT_NAME } from "../core/policy/default-policy.ts";
import type { PageTerms } from "../accounts/keys.ts";
import { changeRows, countRows, findRow, insertRow } from "../store/rows.ts";
import type { Database } from "../store/schema.ts";
import { lockPolicies, type PolicyName } from "../store/live-policy.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";
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

export interface PolicyLimits {
  readonly policiesMax: number;
  readonly versionsMax: number;
}

/** `usedBy`: "hook 0123abcd (kratos)". */
export type PolicyRemoval =
  | { readonly kind: "removed" | "unknown" }
  | { readonly kind: "in_use"; readonly usedBy: readonly string[] };

/** Rules are checked by `test/contracts/policy/policy-store.ts`. */
export interface PolicyStore {
  /** Its number, above all that were saved under the name. Undefined: the account has `policiesMax` other policies. */
  save(version: NewPolicyVersion, limits: PolicyLimits): Promise<number | undefined>;
  /** By name; those with a version that runs. */
  list(accountId: string): Promise<readonly PolicyHead[]>;
  inForce(accountId: string, name: string): Promise<PolicyInForce>;
  version(accountId: string, name: string, version: number): Promise<PolicyVersion | undefined>;
  versions(accountId: string, name: string, limit: number): Promise<readonly PolicyVersion[]>;
  /** Ends the shadow, or makes a version it. False when there is no such policy or version. */
  setShadow(accountId: string, name: string, version: number | undefined): Promise<boolean>;
  /** The shadow becomes live; its number, or undefined when there is none. */
  promote(accountId: string, name: string): Promise<number | undefined>;
  /** No version of it runs any more; the versions stay to be read. Nothing changes while something uses it. */
  remove(accountId: string, name: string): Promise<PolicyRemoval>;
}

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

const row = (sql: Sql, accountId: string, name: string) =>
  findRow(sql, "policies", { account_id: accountId, name });

const hasRunning = (build: ExpressionBuilder<Database, "policies">) =>
  build.or([build("live_version", "is not", null), build("shadow_version", "is not", null)]);

const running = (sql: Sql, accountId: string) =>
  sql.selectFrom("policies").where("account_id", "=", accountId).where(hasRunning);

function one(sql: Sql, accountId: string, name: string, number: number | null | undefined) {
  if (number === null || number === undefined) return Promise.resolve(undefined);
  return findRow(sql, "policy_versions", { account_id: accountId, name, version: number });
}

async function saveIn(
  tx: Tx,
  made: NewPolicyVersion,
  limits: PolicyLimits,
): Promise<number | undefined> {
  const { sql } = tx;
  const { accountId, name, document, author, createdAtMs } = made;
  await lockPolicies(tx, accountId);
  const others = await countRows(running(sql, accountId).where("name", "!=", name));
  if (others >= limits.policiesMax) return undefined;
  const known = await row(sql, accountId, name);
  const number = known?.next_version ?? made.firstVersion;
  const column = made.as === "live" ? "live_version" : "shadow_version";
  const change = { [column]: number, next_version: number + 1 };
  await sql
    .insertInto("policies")
    .values({
      account_id: accountId,
      name,
      live_version: null,
      shadow_version: null,
      ...change,
    })
    .onConflict((conflict) => conflict.columns(["account_id", "name"]).doUpdateSet(change))
    .execute();
  await insertRow(sql, "policy_versions", {
    account_id: accountId,
    name,
    version: number,
    document,
    author,
    created_at_ms: createdAtMs,
  });
  await forgetOld(tx, { ...(await row(sql, accountId, name)) }, number - limits.versionsMax);
  return number;
}

/** Versions up to `upTo` that do not run. */
async function forgetOld({ sql }: Tx, known: Partial<PolicyRow>, upTo: number): Promise<void> {
  const { account_id: accountId = "", name = "", live_version, shadow_version } = known;
  const kept = [live_version, shadow_version].filter((number) => typeof number === "number");
  let old = sql
    .deleteFrom("policy_versions")
    .where("account_id", "=", accountId)
    .where("name", "=", name)
    .where("version", "<=", upTo);
  if (kept.length > 0) old = old.where("version", "not in", kept);
  await old.execute();
}

/** False when no version of the policy runs. */
async function change(
  sql: Sql,
  { accountId, name }: PolicyName,
  changed: Partial<PolicyRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable("policies")
    .set(changed)
    .where("account_id", "=", accountId)
    .where("name", "=", name)
    .where(hasRunning)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

async function setShadowIn(tx: Tx, which: PolicyName, number: number): Promise<boolean> {
  const { accountId, name } = which;
  await lockPolicies(tx, accountId);
  if ((await one(tx.sql, accountId, name, number)) === undefined) return false;
  const row = { account_id: accountId, name };
  return (await changeRows(tx.sql, "policies", row, { shadow_version: number })) === 1;
}

async function promoteIn(tx: Tx, which: PolicyName): Promise<number | undefined> {
  await lockPolicies(tx, which.accountId);
  const shadow = (await row(tx.sql, which.accountId, which.name))?.shadow_version;
  if (typeof shadow !== "number") return undefined;
  await change(tx.sql, which, { live_version: shadow, shadow_version: null });
  return shadow;
}

async function removeIn(tx: Tx, which: PolicyName): Promise<PolicyRemoval> {
  await lockPolicies(tx, which.accountId);
  // Whoever uses `default` gets the built-in one.
  const usedBy = which.name === DEFAULT_NAME ? [] : await usersOf(tx.sql, which);
  if (usedBy.length > 0) return { kind: "in_use", usedBy };
  const removed = await change(tx.sql, which, { live_version: null, shadow_version: null });
  return { kind: removed ? "removed" : "unknown" };
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

export function sqlPolicyStore(db: Sql): PolicyStore {
  return {
    save: (made, limits) => inTransaction(db, (tx) => saveIn(tx, made, limits)),
    async list(accountId) {
      const rows = await running(db, accountId).selectAll().orderBy("name").execute();
      return rows.map(head);
    },
    async inForce(accountId, name) {
      const known = await row(db, accountId, name);
      if (known === undefined) return {};
      const live = await one(db, accountId, name, known.live_version);
      const shadow = await one(db, accountId, name, known.shadow_version);
      return {
        ...(live !== undefined && { live: version(live) }),
        ...(shadow !== undefined && { shadow: version(shadow) }),
      };
    },
    async version(accountId, name, number) {
      const found = await one(db, accountId, name, number);
      return found && version(found);
    },
    async versions(accountId, name, limit) {
      const rows = await db
        .selectFrom("policy_versions")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("name", "=", name)
        .orderBy("version", "desc")
        .limit(limit)
        .execute();
      return rows.map(version);
    },
    setShadow: (accountId, name, number) =>
      number === undefined
        ? change(db, { accountId, name }, { shadow_version: null })
        : inTransaction(db, (tx) => setShadowIn(tx, { accountId, name }, number)),
    promote: (accountId, name) => inTransaction(db, (tx) => promoteIn(tx, { accountId, name })),
    remove: (accountId, name) => inTransaction(db, (tx) => removeIn(tx, { accountId, name })),
  };
}
