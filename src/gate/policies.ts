import { type ExpressionBuilder, type Kysely, sql as raw } from "kysely";
import type { Account } from "../accounts/accounts-store.ts";
import { tierOf, type Tiers } from "../accounts/admission/tiers.ts";
import type { Note } from "../accounts/audit.ts";
import type { PageTerms } from "../accounts/key-store.ts";
import type { Clock } from "../base/clock.ts";
import { badField, badPolicy, noSuchPolicy, notNow } from "../base/refusals.ts";
import { dayOf, isoDate, isoTimeOrNull } from "../core/calendar.ts";
import { BUILT_IN_DOCUMENTS, DEFAULT_VERSION } from "../core/policy/default-policy.ts";
import {
  isPolicyName,
  parsePolicy,
  POLICY_MAX_BYTES,
  working,
} from "../core/policy/parse-policy.ts";
import { prunedWords } from "../core/policy/sentence.ts";
import { isReservedName } from "../core/reserved-name.ts";
import { lockPolicies, type PolicyName } from "../store/live-policy.ts";
import type { Notices } from "../store/notices.ts";
import { changeRows, countRows, deleteRows, findRow, insertRow } from "../store/rows.ts";
import type { Database } from "../store/schema.ts";
import type { PolicyRow, PolicyVersionRow, ShadowCountRow } from "../store/tables/policy.ts";
import { inTransaction } from "../store/transaction.ts";
import type {
  Pair,
  PolicyJson,
  PolicyPage,
  RuleCounts,
  SavedPolicy,
  ShadowReport,
} from "./gate-shapes.ts";
import { Outcomes, summed } from "./outcomes.ts";
import type { RunningVersions } from "./rulings.ts";

/** Of one account. The versions that run fit in `octetsMax` and always stay; the oldest of the others go first. */
export interface PolicyLimits {
  readonly policiesMax: number;
  readonly versionsMax: number;
  readonly allVersionsMax: number;
  readonly octetsMax: number;
}

/** 50 policies of 64 KB, each live and in shadow, fit in the octets. */
const LIMITS: PolicyLimits = {
  policiesMax: 50,
  versionsMax: 500,
  allVersionsMax: 5_000,
  octetsMax: 2 * 50 * POLICY_MAX_BYTES,
};

const VERSIONS_SHOWN = 100;

export const SHADOW_DAYS = 90;

type Sql = Kysely<Database>;

const hasRunning = (build: ExpressionBuilder<Database, "policies">) =>
  build.or([build("live_version", "is not", null), build("shadow_version", "is not", null)]);

const running = (sql: Sql, accountId: string) =>
  sql.selectFrom("policies").where("account_id", "=", accountId).where(hasRunning);

/** `usedBy`: "hook 0123abcd (kratos)". */
type PolicyRemoval =
  | { readonly kind: "removed" | "unknown" }
  | { readonly kind: "in_use"; readonly usedBy: readonly string[] };

/** Rules are checked by `test/contracts/policy/policy-store.ts`. */
export class PolicyStore {
  readonly #db: Sql;

  constructor(db: Sql) {
    this.#db = db;
  }

  /**
   * Gives the version a number above all that were saved under the name; `pruned` old ones were deleted for it.
   * Undefined: the account has `policiesMax` other policies.
   */
  save(
    made: Omit<PolicyVersionRow, "version">,
    as: "live" | "shadow",
    limits: PolicyLimits = LIMITS,
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
      const before = { account_id, name, live_version, shadow_version };
      const row = { ...before, ...runs, next_version: version + 1 };
      await sql
        .insertInto("policies")
        .values(row)
        .onConflict((conflict) => conflict.columns(["account_id", "name"]).doUpdateSet(row))
        .execute();
      await insertRow(sql, "policy_versions", { ...made, version });
      return { version, pruned: await prune(sql, account_id, limits) };
    });
  }

  /** By name; those with a version that runs. */
  list(accountId: string): Promise<readonly PolicyRow[]> {
    return running(this.#db, accountId).selectAll().orderBy("name").execute();
  }

  async inForce(accountId: string, name: string): Promise<RunningVersions> {
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

  /** Newest first. */
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

export interface Author {
  readonly account: Pick<Account, "id" | "tier" | "origin" | "createdAtMs">;
  readonly author: string;
}

export interface PolicyServiceDeps {
  readonly note?: Note;
  readonly db: Sql;
  readonly tiers: Tiers;
  readonly clock: Pick<Clock, "nowMs">;
  readonly notices: Pick<Notices, "tell">;
}

/** What an account does with its policies. Throws a `Refusal` that names the mistake. */
export class PolicyService {
  readonly #deps: PolicyServiceDeps;
  readonly #store: PolicyStore;
  readonly #outcomes: Outcomes;

  constructor(deps: PolicyServiceDeps) {
    this.#deps = deps;
    this.#store = new PolicyStore(deps.db);
    this.#outcomes = new Outcomes(deps.db);
  }

  /** The same service, which notes its changes. */
  by(note: Note): PolicyService {
    return new PolicyService({ ...this.#deps, note });
  }

  async list(accountId: string): Promise<readonly PolicyJson[]> {
    const rows: PolicyJson[] = [];
    for (const head of await this.#heads(accountId)) rows.push(await this.#row(accountId, head));
    return rows;
  }

  async show(accountId: string, name: string, asked?: number): Promise<PolicyPage> {
    const head = await this.#head(accountId, name);
    const { live, shadow } = head;
    const version = asked ?? live;
    const saved = await this.#store.version(accountId, name, version);
    if (saved === undefined && !isBuiltIn(name, version)) throw noSuchPolicy();
    const document = saved ? (JSON.parse(saved.document) as unknown) : BUILT_IN_DOCUMENTS.get(name);
    const read = parsePolicy(document, { hasDomainAge: true });
    const known = await this.#store.versions(accountId, name, VERSIONS_SHOWN);
    const all = BUILT_IN_DOCUMENTS.has(name) ? [...known, BUILT_IN_VERSION] : known;
    return {
      ...(await this.#row(accountId, head)),
      version,
      document,
      rule_reasons: (working(read)?.rules ?? []).map(({ reason }) => reason),
      ...(!read.ok && { mistakes: read.mistakes }),
      versions: all.map((one) => ({
        version: one.version,
        state: one.version === live ? "live" : one.version === shadow ? "shadow" : "old",
        ...authorOf(one),
      })),
    };
  }

  async save(
    { account, author }: Author,
    name: string,
    document: unknown,
    as: "live" | "shadow",
  ): Promise<SavedPolicy> {
    checkName(name);
    if (as === "shadow") await this.#head(account.id, name);
    const made = {
      account_id: account.id,
      name,
      document: checkedDocument(document, account, this.#deps),
      author,
      created_at_ms: this.#deps.clock.nowMs(),
    };
    const saved = await this.#store.save(made, as);
    if (saved === undefined) throw tooMany();
    const { version, pruned } = saved;
    const policy = { name, version, ...(pruned > 0 && { pruned }) };
    await this.#changed(account.id, `${name} ${String(version)} ${as}${prunedWords(policy, ", ")}`);
    return policy;
  }

  async setShadow(accountId: string, name: string, version: number): Promise<SavedPolicy> {
    await this.#head(accountId, name);
    if (!(await this.#store.setShadow(accountId, name, version))) throw noSuchPolicy();
    await this.#changed(accountId, `${name} ${String(version)} shadow`);
    return { name, version };
  }

  async endShadow(accountId: string, name: string): Promise<void> {
    await this.#head(accountId, name);
    await this.#store.setShadow(accountId, name, undefined);
    await this.#changed(accountId, `${name} without shadow`);
  }

  async promote(accountId: string, name: string): Promise<SavedPolicy> {
    await this.#head(accountId, name);
    const version = await this.#store.promote(accountId, name);
    if (version === undefined) throw notNow("No shadow runs beside this policy.");
    await this.#changed(accountId, `${name} ${String(version)} live`);
    return { name, version };
  }

  async remove(accountId: string, name: string): Promise<void> {
    const removal = await this.#store.remove(accountId, name);
    if (removal.kind === "unknown") throw noSuchPolicy();
    if (removal.kind === "in_use") throw policyInUse(name, removal.usedBy);
    await this.#changed(accountId, `${name} removed`);
  }

  /** How often each rule of each version decided, and of a shadow would have. */
  async ruleCounts(accountId: string, name: string, days: number): Promise<RuleCounts> {
    const fromDay = dayOf(this.#deps.clock.nowMs()) - days + 1;
    const counts = await this.#outcomes.rulesOf(accountId, name, fromDay);
    return { counts: counts.map((one) => ({ ...one, rule: one.rule < 0 ? null : one.rule })) };
  }

  async shadowReport(accountId: string, name: string, days: number): Promise<ShadowReport> {
    const { live, shadow } = await this.#head(accountId, name);
    const fromDay = dayOf(this.#deps.clock.nowMs()) - days + 1;
    const which = shadow && { account_id: accountId, policy: name, version: shadow };
    const counts = which ? await this.#outcomes.shadowPairs(which, fromDay) : [];
    const domains = which ? await this.#outcomes.shadowDomains(which, fromDay) : [];
    const pairs = pairsOf(counts);
    const sum = (some: readonly Pair[]): number => some.reduce((all, { count }) => all + count, 0);
    return {
      live,
      shadow,
      days: [...new Set(counts.map(({ day }) => day))].map((day) => ({
        day: isoDate(day),
        pairs: pairsOf(counts.filter((count) => count.day === day)),
      })),
      pairs,
      total: sum(pairs),
      changed: sum(pairs.filter((pair) => pair.live !== pair.shadow)),
      domains: domains.map(({ day, domain, live, shadow, count }) => {
        return { day: isoDate(day), domain, live, shadow, count };
      }),
    };
  }

  async #changed(accountId: string, detail: string): Promise<void> {
    const { notices, note } = this.#deps;
    notices.tell("policies");
    await note?.({ action: "policy.changed", accountId, detail });
  }

  /** `default` and `send` are always there: without a live version of the account's own the built-in one is live. */
  async #heads(accountId: string): Promise<readonly PolicyHead[]> {
    const rows = await this.#store.list(accountId);
    const builtIn = [...BUILT_IN_DOCUMENTS.keys()].map((name): PolicyHead => {
      const { live_version, shadow_version = null } = rows.find((row) => row.name === name) ?? {};
      return { name, live: live_version ?? DEFAULT_VERSION, shadow: shadow_version };
    });
    const others = rows.flatMap(({ name, live_version: live, shadow_version: shadow }) =>
      live === null || BUILT_IN_DOCUMENTS.has(name) ? [] : { name, live, shadow },
    );
    return [...builtIn, ...others];
  }

  async #head(accountId: string, name: string): Promise<PolicyHead> {
    const head = (await this.#heads(accountId)).find((one) => one.name === name);
    if (head === undefined) throw noSuchPolicy();
    return head;
  }

  async #row(accountId: string, { name, live, shadow }: PolicyHead): Promise<PolicyJson> {
    const saved = await this.#store.version(accountId, name, live);
    const built_in = saved === undefined && isBuiltIn(name, live);
    return { name, built_in, live, shadow, ...authorOf(saved) };
  }
}

type PolicyHead = Pick<PolicyJson, "name" | "live" | "shadow">;

type Saved = Pick<PolicyVersionRow, "version"> & Partial<PolicyVersionRow>;

const BUILT_IN_VERSION: Saved = { version: DEFAULT_VERSION };

const tooMany = (): Error =>
  notNow(`An account has at most ${String(LIMITS.policiesMax)} policies. Remove one first.`);

const policyInUse = (name: string, usedBy: readonly string[]): Error =>
  notNow(`Policy "${name}" is used by ${usedBy.join(", ")}. Remove what uses it first.`);

function checkName(name: string): void {
  if (isReservedName(name)) throw badField(`The name ${name} is reserved. Choose another.`);
  if (isPolicyName(name)) return;
  throw badField("A policy's name has 1 to 32 characters: a to z, 0 to 9, _ and -.");
}

/** The text that is stored. Throws the `Refusal` that names every mistake with its path. */
function checkedDocument(
  document: unknown,
  account: Author["account"],
  { tiers, clock }: Pick<PolicyServiceDeps, "tiers" | "clock">,
): string {
  const text = JSON.stringify(document) ?? "";
  if (Buffer.byteLength(text) > POLICY_MAX_BYTES) {
    throw badPolicy([`policy: has more than ${String(POLICY_MAX_BYTES)} octets`]);
  }
  const { premium: hasDomainAge } = tiers[tierOf(account, clock.nowMs())];
  const read = parsePolicy(document, { hasDomainAge });
  if (!read.ok) throw badPolicy(read.mistakes);
  return text;
}

const isBuiltIn = (name: string, version: number): boolean =>
  BUILT_IN_DOCUMENTS.has(name) && version === DEFAULT_VERSION;

const authorOf = (saved: Partial<Saved> | undefined) => ({
  author: saved?.author ?? null,
  created_at: isoTimeOrNull(saved?.created_at_ms),
});

const pairsOf = (counts: readonly ShadowCountRow[]): readonly Pair[] =>
  summed(
    counts.map(({ live, shadow, count }) => ({ live, shadow, count })),
    ({ live, shadow }) => `${live} ${shadow}`,
  );
