import type { SourceKey } from "./traffic-marks.ts";
import { sql } from "kysely";
import type { Caller } from "../accounts/admission/caller.ts";
import type { Keys } from "../accounts/key-store.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { addCount, WriteBehind } from "../base/write-behind.ts";
import { dayOf, isoDate } from "../core/calendar.ts";
import type { PolicyQuestion } from "../core/policy/default-policy.ts";
import { type CheckFacts, type Decision, DECISIONS, type Outcome } from "../core/policy/policy.ts";
import { addCounts } from "../store/upserts.ts";
import { changeRows, countRows, insertRow } from "../store/rows.ts";
import { lockName } from "../store/locks.ts";
import { pruneRows } from "../store/prune.ts";
import type { Db } from "../store/schema.ts";
import type { OutcomeCountRow, RuleCountRow, ShadowCountRow } from "../store/tables/policy.ts";
import { inSlice, type Tx } from "../store/transaction.ts";
import type { Hooks } from "./hooks.ts";
import type { PoliciesInForce } from "./rulings.ts";

interface OutcomeBatch {
  readonly outcomes: readonly OutcomeCountRow[];
  readonly pairs: readonly ShadowCountRow[];
  readonly domains: readonly ShadowCountRow[];
  readonly rules: readonly RuleCountRow[];
}

/** `rowsMax`: forms, keys and reasons of one account and day, counted together as rows. */
const LIMITS = { rowsMax: 1_000, domainsMax: 100 };

export const OUTCOME_DAYS = 400;

type ShadowKey = Pick<ShadowCountRow, "account_id" | "policy" | "version">;

const OTHER_FORM = "(other)";

async function grown({ sql: db }: Tx, { count, ...row }: OutcomeCountRow): Promise<boolean> {
  return (await changeRows(db, "outcome_counts", row, { count: sql`count + ${count}` })) === 1;
}

async function addOutcome(tx: Tx, made: OutcomeCountRow, rowsMax: number): Promise<void> {
  if (await grown(tx, made)) return;
  const { account_id, day } = made;
  const ofDay = tx.sql.selectFrom("outcome_counts").where((is) => is.and({ account_id, day }));
  const isFull = (await countRows(ofDay)) >= rowsMax;
  const kept = isFull ? { ...made, key_id: "", form: OTHER_FORM } : made;
  if (isFull && (await grown(tx, kept))) return;
  await insertRow(tx.sql, "outcome_counts", kept);
}

async function hasRoom({ sql: db }: Tx, made: ShadowCountRow, domainsMax: number) {
  const { account_id, policy, version, day, domain } = made;
  const ofDay = db
    .selectFrom("shadow_domains")
    .where((is) => is.and({ account_id, policy, version, day }));
  const known = await ofDay.select("domain").where("domain", "=", domain).executeTakeFirst();
  if (known !== undefined) return true;
  const { domains } = await ofDay
    .select(({ fn }) => fn.count("domain").distinct().as("domains"))
    .executeTakeFirstOrThrow();
  return Number(domains) < domainsMax;
}

const numbered = <T extends { readonly count: number }>(rows: readonly T[]): readonly T[] =>
  rows.map((row) => ({ ...row, count: Number(row.count) }));

export class Outcomes {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** All or nothing, one process after the other. Beyond `rowsMax` a new row counts as "(other)" without key. */
  async add(
    { outcomes = [], pairs = [], domains = [], rules = [] }: Partial<OutcomeBatch>,
    { rowsMax, domainsMax } = LIMITS,
  ): Promise<void> {
    await inSlice(this.#db, async (tx) => {
      await lockName(tx, "outcome_counts");
      for (const made of outcomes) await addOutcome(tx, made, rowsMax);
      for (const made of pairs) await addCounts(tx.sql, "shadow_counts", [made]);
      for (const made of rules) await addCounts(tx.sql, "rule_counts", [made]);
      for (const made of domains) {
        if (await hasRoom(tx, made, domainsMax)) {
          await addCounts(tx.sql, "shadow_domains", [made]);
        }
      }
    });
  }

  async ofAccount(accountId: string, fromDay: number): Promise<readonly OutcomeCountRow[]> {
    const all = this.#db.selectFrom("outcome_counts").selectAll().where("day", ">=", fromDay);
    return numbered(await all.where("account_id", "=", accountId).orderBy("day").execute());
  }

  async shadowPairs(which: ShadowKey, fromDay: number): Promise<readonly ShadowCountRow[]> {
    return numbered(await this.#ofShadow("shadow_counts", which, fromDay).orderBy("day").execute());
  }

  /** Sums of all days from `fromDay` on, by version and rule. */
  async rulesOf(
    accountId: string,
    policy: string,
    fromDay: number,
  ): Promise<readonly Pick<RuleCountRow, "version" | "rule" | "count">[]> {
    const rows = await this.#db
      .selectFrom("rule_counts")
      .select(({ fn }) => ["version", "rule", fn.sum<number>("count").as("count")])
      .where("day", ">=", fromDay)
      .where((is) => is.and({ account_id: accountId, policy }))
      .groupBy(["version", "rule"])
      .orderBy("version")
      .orderBy("rule")
      .execute();
    return numbered(rows);
  }

  async shadowDomains(which: ShadowKey, fromDay: number): Promise<readonly ShadowCountRow[]> {
    const rows = await this.#ofShadow("shadow_domains", which, fromDay)
      .orderBy("day", "desc")
      .orderBy("count", "desc")
      .orderBy("domain")
      .execute();
    return numbered(rows);
  }

  /** Deletes days before `fromDay` of shadows and before `outcomesFromDay` of outcomes; returns how many rows. */
  async prune(fromDay: number, outcomesFromDay: number): Promise<number> {
    const ofShadow = [
      "account_id",
      "policy",
      "version",
      "day",
      "live",
      "shadow",
      "domain",
    ] as const;
    const tables = [
      ["outcome_counts", ["account_id", "day", "key_id", "form", "decision", "reason"]],
      ["shadow_counts", ofShadow],
      ["shadow_domains", ofShadow],
      ["rule_counts", ["account_id", "policy", "version", "day", "rule"]],
    ] as const;
    let pruned = 0;
    for (const [table, key] of tables) {
      const before = table === "outcome_counts" ? outcomesFromDay : fromDay;
      pruned += await pruneRows(this.#db, { table, key, column: "day", before });
    }
    return pruned;
  }

  #ofShadow(table: "shadow_counts" | "shadow_domains", which: ShadowKey, fromDay: number) {
    const all = this.#db.selectFrom(table).selectAll().where("day", ">=", fromDay);
    return all.where((is) => is.and({ ...which }));
  }
}

export interface DecisionMade {
  readonly outcome: Outcome;
  readonly shadow?: Outcome | undefined;
  readonly facts: Pick<
    CheckFacts,
    "format" | "domain" | "registrable_domain" | "disposable" | "dns" | "signals"
  >;
  readonly policies: PoliciesInForce;
  readonly form: string;
  readonly asked: PolicyQuestion;
  /** Nothing was checked for it: an earlier answer still holds. */
  readonly isCached: boolean;
  readonly isComplete: boolean;
  /** Undefined for what is no address, and for callers without an account. */
  readonly mailboxId: string | undefined;
  readonly subject?: string | undefined;
  readonly sources: readonly SourceKey[];
  readonly shape: string | undefined;
}

interface CountedDecision {
  readonly accountId: string;
  readonly day: number;
  readonly keyId: string;
  readonly form: string;
  readonly policy: string;
  readonly live: CountedOutcome;
  readonly reason: string;
  readonly shadow: CountedOutcome | undefined;
  readonly domain: string | undefined;
  count: number;
}

interface CountedOutcome {
  readonly version: number;
  readonly rule: number;
  readonly decision: Decision;
}

const countedOutcome = (version: number, { rule = -1, decision }: Outcome): CountedOutcome => ({
  version,
  rule,
  decision,
});

function batchOf(all: readonly CountedDecision[]): OutcomeBatch {
  const outcomes: OutcomeCountRow[] = [];
  const pairs: ShadowCountRow[] = [];
  const domains: ShadowCountRow[] = [];
  const rules: RuleCountRow[] = [];
  for (const { accountId: account_id, day, policy, live, shadow, domain, ...one } of all) {
    const { keyId: key_id, form, reason, count } = one;
    outcomes.push({ day, account_id, key_id, form, decision: live.decision, reason, count });
    for (const { version, rule } of shadow === undefined ? [live] : [live, shadow]) {
      rules.push({ account_id, policy, version, day, rule, count });
    }
    if (shadow === undefined) continue;
    const { version, decision } = shadow;
    const key = { account_id, policy, version, day, live: live.decision, shadow: decision };
    pairs.push({ ...key, domain: "", count });
    if (domain !== undefined) domains.push({ ...key, domain, count });
  }
  return { outcomes, pairs, domains, rules };
}

export interface OutcomeRecorderDeps {
  readonly outcomes: Pick<Outcomes, "add">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
}

const FLUSH_AFTER_MS = 1_000;

const BATCH = 200;

/** Rows that wait at most: a store that is away for long costs counts, not memory. */
const WAITING_MAX = 20_000;

export class OutcomeRecorder {
  readonly #deps: OutcomeRecorderDeps;
  readonly #counts: WriteBehind<CountedDecision>;

  constructor(deps: OutcomeRecorderDeps) {
    this.#deps = deps;
    const { outcomes, clock, log } = deps;
    this.#counts = new WriteBehind({
      afterMs: FLUSH_AFTER_MS,
      batch: BATCH,
      max: WAITING_MAX,
      clock,
      merge: addCount,
      save: (rows) => outcomes.add(batchOf(rows)),
      failed: (fault, lost) => log.error("decisions.flush_failed", fault, { lost }),
    });
  }

  record({ owner, keyId = "" }: Caller, made: DecisionMade): void {
    if (owner.kind !== "account") return;
    const { accountId } = owner;
    const day = dayOf(this.#deps.clock.nowMs());
    const { outcome, policies, facts } = made;
    const { decision, reason } = outcome;
    const form = made.form === "" && made.asked !== "signup" ? `(${made.asked})` : made.form;
    const { name: policy } = policies;
    const live = countedOutcome(policies.live.version, outcome);
    const shadow =
      made.shadow && policies.shadow && countedOutcome(policies.shadow.version, made.shadow);
    const isDebated = shadow !== undefined && shadow.decision !== decision && facts.format;
    const domain = isDebated ? facts.domain : undefined;
    const beside = shadow && `${String(shadow.version)} ${String(shadow.rule)} ${shadow.decision}`;
    const key = `${String(day)}\n${accountId}\n${keyId}\n${policy} ${String(live.version)} ${String(live.rule)}\n${decision}\n${reason}\n${beside ?? ""}\n${domain ?? ""}\n${form}`;
    const counted = { accountId, day, keyId, form, policy, live, reason, shadow, domain, count: 1 };
    this.#counts.note(key, counted);
  }

  flush(): Promise<void> {
    return this.#counts.flush();
  }
}

type ByDecision = Record<Decision, number>;

const none = (): ByDecision => ({ accept: 0, challenge: 0, review: 0, reject: 0 });

function byDecision<K>(
  rows: readonly OutcomeCountRow[],
  keyOf: (row: OutcomeCountRow) => K,
): ReadonlyMap<K, ByDecision> {
  const all = new Map<K, ByDecision>();
  for (const row of rows) {
    const sums = all.get(keyOf(row)) ?? none();
    sums[row.decision] += row.count;
    all.set(keyOf(row), sums);
  }
  return all;
}

/** One row for all with the same key, with the sum of their counts; the largest first. */
export function summed<T extends { readonly count: number }>(
  rows: readonly T[],
  keyOf: (row: T) => string,
): readonly T[] {
  const sums = new Map<string, T>();
  for (const row of rows) {
    const { count = 0 } = sums.get(keyOf(row)) ?? {};
    sums.set(keyOf(row), { ...row, count: count + row.count });
  }
  return [...sums.values()].toSorted((a, b) => b.count - a.count);
}

const totalOf = (sums: ByDecision): number =>
  DECISIONS.reduce((all, decision) => all + sums[decision], 0);

const mostFirst = (all: ReadonlyMap<string, ByDecision>): readonly [string, ByDecision][] =>
  [...all].toSorted(([, a], [, b]) => totalOf(b) - totalOf(a));

export interface OutcomeReportDeps {
  readonly outcomes: Pick<Outcomes, "ofAccount">;
  readonly keys: Pick<Keys, "list">;
  readonly hooks: Pick<Hooks, "list">;
  readonly clock: Pick<Clock, "nowMs">;
}

export function createOutcomeReport({ outcomes, keys, hooks, clock }: OutcomeReportDeps) {
  return async (accountId: string, days: number) => {
    const today = dayOf(clock.nowMs());
    const fromDay = today - days + 1;
    const firstDay = Math.max(fromDay - days, today - OUTCOME_DAYS + 1);
    const known = await outcomes.ofAccount(accountId, firstDay);
    const rows = known.filter(({ day }) => day >= fromDay);
    const byDay = byDecision(known, ({ day }) => day);
    const daysFrom = (first: number, length: number) =>
      Array.from({ length }, (_, at) => ({
        day: isoDate(first + at),
        ...(byDay.get(first + at) ?? none()),
      }));
    const reasons = rows.map(({ decision, reason, count }) => ({ decision, reason, count }));
    const names = new Map<string, string>();
    for (const { id, name } of await keys.list(accountId)) names.set(id, name);
    for (const { id, system } of await hooks.list(accountId)) names.set(`hook:${id}`, system);
    return {
      days: daysFrom(fromDay, days),
      // Fewer when counts do not go back that far.
      before: daysFrom(firstDay, fromDay - firstDay),
      reasons: summed(reasons, ({ decision, reason }) => `${decision} ${reason}`),
      keys: mostFirst(byDecision(rows, (row) => row.key_id)).map(([id, sums]) => ({
        key_id: id === "" ? null : id,
        name: names.get(id) ?? null,
        ...sums,
      })),
      forms: mostFirst(byDecision(rows, (row) => row.form)).map(([form, sums]) => ({
        form: form === "" ? null : form,
        ...sums,
      })),
      total: rows.reduce((all, { count }) => all + count, 0),
    };
  };
}

export type ReportOutcomes = ReturnType<typeof createOutcomeReport>;
export type OutcomeReport = Awaited<ReturnType<ReportOutcomes>>;
