import { type Kysely, sql as raw } from "kysely";
import type { Caller } from "../accounts/admission/caller.ts";
import type { RequestCounts } from "../accounts/request-counts.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { addCount, WriteBehind } from "../base/write-behind.ts";
import { dayOf } from "../core/calendar.ts";
import type { PolicyQuestion } from "../core/policy/default-policy.ts";
import type { CheckFacts } from "../core/policy/conditions.ts";
import type { Outcome } from "../core/policy/policy.ts";
import { countRows, insertRow, lockName, pruneRows } from "../store/rows.ts";
import type { Database } from "../store/schema.ts";
import type { OutcomeCountRow, RuleCountRow, ShadowCountRow } from "../store/tables/policy.ts";
import { inSlice, type Tx } from "../store/transaction.ts";
import type { PoliciesInForce } from "./in-force.ts";

/** Counts by UTC day: what was decided, and what a shadow version says of the same. No address. */
interface OutcomeBatch {
  readonly outcomes: readonly OutcomeCountRow[];
  /** With "" as their domain. */
  readonly pairs: readonly ShadowCountRow[];
  /** The same for each domain that the two versions disagree on. */
  readonly domains: readonly ShadowCountRow[];
  /** How often each rule of the live and of the shadow version fitted first. */
  readonly rules: readonly RuleCountRow[];
}

interface Limits {
  /** Forms, keys and reasons of one account and day, counted together as rows. */
  readonly rowsMax: number;
  readonly domainsMax: number;
}

const LIMITS: Limits = { rowsMax: 1_000, domainsMax: 100 };

type ShadowKey = Pick<ShadowCountRow, "account_id" | "policy" | "version">;

const OTHER_FORM = "(other)";

/** Where the form would be of messages without one. */
const SEND_FORM = "(send)";

async function growOutcome({ sql }: Tx, { count, ...row }: OutcomeCountRow): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable("outcome_counts")
    .set((build) => ({ count: build("count", "+", count) }))
    .where((build) => build.and(row))
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

async function addOutcome(tx: Tx, made: OutcomeCountRow, rowsMax: number): Promise<void> {
  if (await growOutcome(tx, made)) return;
  const ofDay = tx.sql
    .selectFrom("outcome_counts")
    .where("account_id", "=", made.account_id)
    .where("day", "=", made.day);
  const isFull = (await countRows(ofDay)) >= rowsMax;
  const kept = isFull ? { ...made, key_id: "", form: OTHER_FORM } : made;
  if (isFull && (await growOutcome(tx, kept))) return;
  await insertRow(tx.sql, "outcome_counts", kept);
}

const SHADOW_KEY = ["account_id", "policy", "version", "day", "live", "shadow", "domain"] as const;

type ShadowTable = "shadow_counts" | "shadow_domains";

async function addShadow({ sql }: Tx, table: ShadowTable, made: ShadowCountRow): Promise<void> {
  await sql
    .insertInto(table)
    .values(made)
    .onConflict((conflict) =>
      conflict.columns(SHADOW_KEY).doUpdateSet({
        count: raw<number>`${raw.ref(`${table}.count`)} + excluded.count`,
      }),
    )
    .execute();
}

const RULE_KEY = ["account_id", "policy", "version", "day", "rule"] as const;

async function addRule({ sql }: Tx, made: RuleCountRow): Promise<void> {
  const count = raw<number>`rule_counts.count + excluded.count`;
  await sql
    .insertInto("rule_counts")
    .values(made)
    .onConflict((conflict) => conflict.columns(RULE_KEY).doUpdateSet({ count }))
    .execute();
}

async function hasRoom({ sql }: Tx, made: ShadowCountRow, domainsMax: number): Promise<boolean> {
  const { account_id, policy, version, day, domain } = made;
  const ofDay = sql
    .selectFrom("shadow_domains")
    .where((build) => build.and({ account_id, policy, version, day }));
  const known = await ofDay.select("domain").where("domain", "=", domain).executeTakeFirst();
  if (known !== undefined) return true;
  const { domains } = await ofDay
    .select((build) => build.fn.count("domain").distinct().as("domains"))
    .executeTakeFirstOrThrow();
  return Number(domains) < domainsMax;
}

const counted = <T extends { readonly count: number }>(rows: readonly T[]): readonly T[] =>
  rows.map((row) => ({ ...row, count: Number(row.count) }));

/** Rules are checked by `test/contracts/policy/outcomes.ts`. */
export class Outcomes {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /**
   * All or nothing. Beyond `rowsMax` a new row counts as "(other)" without key; new domains beyond the limit do not.
   * Several processes write in turn, so that none counts what another is about to insert.
   */
  async add(
    { outcomes = [], pairs = [], domains = [], rules = [] }: Partial<OutcomeBatch>,
    { rowsMax, domainsMax }: Limits = LIMITS,
  ): Promise<void> {
    await inSlice(this.#db, async (tx) => {
      await lockName(tx, "outcome_counts");
      for (const made of outcomes) await addOutcome(tx, made, rowsMax);
      for (const made of pairs) await addShadow(tx, "shadow_counts", made);
      for (const made of rules) await addRule(tx, made);
      for (const made of domains) {
        if (await hasRoom(tx, made, domainsMax)) await addShadow(tx, "shadow_domains", made);
      }
    });
  }

  async ofAccount(accountId: string, fromDay: number): Promise<readonly OutcomeCountRow[]> {
    const all = this.#db.selectFrom("outcome_counts").selectAll().where("day", ">=", fromDay);
    return counted(await all.where("account_id", "=", accountId).orderBy("day").execute());
  }

  async shadowPairs(which: ShadowKey, fromDay: number): Promise<readonly ShadowCountRow[]> {
    return counted(await this.#ofShadow("shadow_counts", which, fromDay).orderBy("day").execute());
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
      .where((build) => build.and({ account_id: accountId, policy }))
      .groupBy(["version", "rule"])
      .orderBy("version")
      .orderBy("rule")
      .execute();
    return counted(rows);
  }

  /** Newest day first, then most often first. */
  async shadowDomains(which: ShadowKey, fromDay: number): Promise<readonly ShadowCountRow[]> {
    const rows = await this.#ofShadow("shadow_domains", which, fromDay)
      .orderBy("day", "desc")
      .orderBy("count", "desc")
      .orderBy("domain")
      .execute();
    return counted(rows);
  }

  /** Deletes days before `fromDay` of shadows and before `outcomesFromDay` of outcomes; returns how many rows. */
  async prune(fromDay: number, outcomesFromDay: number): Promise<number> {
    const outcomes = await pruneRows(this.#db, {
      table: "outcome_counts",
      key: ["account_id", "day", "key_id", "form", "decision", "reason"],
      column: "day",
      before: outcomesFromDay,
    });
    const shadow = { key: SHADOW_KEY, column: "day", before: fromDay };
    const pairs = await pruneRows(this.#db, { table: "shadow_counts", ...shadow });
    const rules = await pruneRows(this.#db, { table: "rule_counts", ...shadow, key: RULE_KEY });
    const domains = await pruneRows(this.#db, { table: "shadow_domains", ...shadow });
    return outcomes + pairs + rules + domains;
  }

  #ofShadow(table: ShadowTable, which: ShadowKey, fromDay: number) {
    const all = this.#db.selectFrom(table).selectAll().where("day", ">=", fromDay);
    return all.where((build) => build.and({ ...which }));
  }
}

export interface DecisionMade {
  readonly outcome: Outcome;
  /** What the shadow version says; absent when none runs. */
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
  /** The identity system's own id of the user. */
  readonly subject?: string | undefined;
}

export interface OutcomeRecorderDeps {
  readonly outcomes: Pick<Outcomes, "add">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
  /** Absent: nothing is counted by hour. */
  readonly counts?: Pick<RequestCounts, "note">;
}

/** One row of outcomes, and the rule of the live version that led to it. */
interface CountedDecision extends OutcomeCountRow {
  readonly policy: string;
  readonly version: number;
  readonly rule: number;
}

const outcomeRow = (row: CountedDecision): OutcomeCountRow => {
  const { account_id, day, key_id, form, decision, reason, count } = row;
  return { account_id, day, key_id, form, decision, reason, count };
};

const ruleRow = (row: CountedDecision): RuleCountRow => {
  const { account_id, day, policy, version, rule, count } = row;
  return { account_id, day, policy, version, rule, count };
};

const FLUSH_AFTER_MS = 1_000;

const BATCH = 200;

/** Rows that wait at most: a store that is away for long costs counts, not memory. */
const WAITING_MAX = 20_000;

export class OutcomeRecorder {
  readonly #deps: OutcomeRecorderDeps;
  readonly #counts: WriteBehind<CountedDecision>;
  readonly #pairs: WriteBehind<ShadowCountRow>;
  readonly #domains: WriteBehind<ShadowCountRow>;
  readonly #shadowRules: WriteBehind<RuleCountRow>;

  constructor(deps: OutcomeRecorderDeps) {
    this.#deps = deps;
    const { outcomes, clock, log } = deps;
    const writer = <T extends { count: number }>(
      kind: string,
      batchOf: (rows: readonly T[]) => Partial<OutcomeBatch>,
    ): WriteBehind<T> =>
      new WriteBehind<T>({
        afterMs: FLUSH_AFTER_MS,
        batch: BATCH,
        max: WAITING_MAX,
        clock,
        merge: addCount,
        save: (rows) => outcomes.add(batchOf(rows)),
        failed: (fault, lost) => log.error("decisions.flush_failed", fault, { kind, lost }),
      });
    this.#counts = writer("outcomes", (rows) => ({
      outcomes: rows.map(outcomeRow),
      rules: rows.map(ruleRow),
    }));
    this.#pairs = writer("pairs", (pairs) => ({ pairs }));
    this.#domains = writer("domains", (domains) => ({ domains }));
    this.#shadowRules = writer("rules", (rules) => ({ rules }));
  }

  record({ owner, keyId = "" }: Caller, made: DecisionMade): void {
    if (owner.kind !== "account") return;
    const { accountId } = owner;
    const day = dayOf(this.#deps.clock.nowMs());
    const { outcome, policies, facts } = made;
    const { decision, reason, rule = -1 } = outcome;
    const form = made.form === "" && made.asked === "send" ? SEND_FORM : made.form;
    this.#deps.counts?.note(accountId, decision);
    const { name, live } = policies;
    this.#counts.note(
      `${String(day)}\n${accountId}\n${keyId}\n${name} ${String(live.version)} ${String(rule)}\n${decision}\n${reason}\n${form}`,
      {
        day,
        account_id: accountId,
        key_id: keyId,
        form,
        decision,
        reason,
        policy: name,
        version: live.version,
        rule,
        count: 1,
      },
    );
    if (made.shadow === undefined || policies.shadow === undefined) return;
    const { version } = policies.shadow;
    const policy = { account_id: accountId, policy: name, version };
    const shadowRule = made.shadow.rule ?? -1;
    this.#shadowRules.note([day, accountId, name, version, shadowRule].join(" "), {
      ...policy,
      day,
      rule: shadowRule,
      count: 1,
    });
    const shadow = made.shadow.decision;
    const pair = { ...policy, day, live: decision, shadow, domain: "", count: 1 };
    const key = [day, accountId, name, version, decision, shadow].join(" ");
    this.#pairs.note(key, pair);
    if (decision !== shadow && facts.format) {
      this.#domains.note(`${key} ${facts.domain}`, { ...pair, domain: facts.domain });
    }
  }

  async flush(): Promise<void> {
    const all = [this.#counts, this.#pairs, this.#domains, this.#shadowRules].map((writer) =>
      writer.flush(),
    );
    for (const end of await Promise.allSettled(all)) {
      if (end.status === "rejected") throw end.reason;
    }
  }
}
