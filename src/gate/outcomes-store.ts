import { type Kysely, sql as raw } from "kysely";
import type { Decision } from "../core/policy/policy.ts";
import type { Database } from "../store/schema.ts";
import { countRows, insertRow, lockName, pruneRows } from "../store/rows.ts";
import { inSlice, type Tx } from "../store/transaction.ts";
import type { OutcomeCountRow, ShadowCountRow } from "../store/tables/policy.ts";

/** How often one kind of decision was made for an account on one UTC day. No address, no domain. */
export interface OutcomeCount {
  /** Days since the Unix epoch, UTC. */
  readonly day: number;
  readonly accountId: string;
  /** The key that asked, "hook:ID" for a hook, "" for neither. */
  readonly keyId: string;
  readonly form: string;
  readonly decision: Decision;
  readonly reason: string;
  count: number;
}

/** How often a live and a shadow version said this of the same entry. */
export interface ShadowCount {
  readonly day: number;
  readonly accountId: string;
  readonly policy: string;
  readonly version: number;
  readonly live: Decision;
  readonly shadow: Decision;
  count: number;
}

/** The same for one domain that the two disagree on. */
export interface ShadowDomain extends ShadowCount {
  readonly domain: string;
}

export interface OutcomeBatch {
  readonly outcomes: readonly OutcomeCount[];
  readonly pairs: readonly ShadowCount[];
  readonly domains: readonly ShadowDomain[];
}

export interface OutcomeLimits {
  /** Forms, keys and reasons of one account and day, counted together as rows. */
  readonly rowsMax: number;
  readonly domainsMax: number;
}

/** Rules are checked by `test/contracts/policy/outcomes.ts`. */
export interface Outcomes {
  /** All or nothing. Beyond `rowsMax` a new row counts as "(other)" without key; new domains beyond the limit do not. */
  add(batch: OutcomeBatch, limits: OutcomeLimits): Promise<void>;
  ofAccount(accountId: string, fromDay: number): Promise<readonly OutcomeCount[]>;
  shadowPairs(which: ShadowKey, fromDay: number): Promise<readonly ShadowCount[]>;
  /** Newest day first, then most often first. */
  shadowDomains(which: ShadowKey, fromDay: number): Promise<readonly ShadowDomain[]>;
  /** Deletes days before `fromDay` of shadows and before `outcomesFromDay` of outcomes; returns how many rows. */
  prune(fromDay: number, outcomesFromDay: number): Promise<number>;
}

export type ShadowKey = Pick<ShadowCount, "accountId" | "policy" | "version">;

const OTHER_FORM = "(other)";

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

async function hasRoom({ sql }: Tx, made: ShadowCountRow, domainsMax: number): Promise<boolean> {
  const ofDay = sql
    .selectFrom("shadow_domains")
    .where("account_id", "=", made.account_id)
    .where("policy", "=", made.policy)
    .where("version", "=", made.version)
    .where("day", "=", made.day);
  const known = await ofDay.select("domain").where("domain", "=", made.domain).executeTakeFirst();
  if (known !== undefined) return true;
  const { domains } = await ofDay
    .select((build) => build.fn.count("domain").distinct().as("domains"))
    .executeTakeFirstOrThrow();
  return Number(domains) < domainsMax;
}

/** Several processes write in turn, so that none counts what another is about to insert. */
async function addAll(
  tx: Tx,
  { outcomes, pairs, domains }: OutcomeBatch,
  { rowsMax, domainsMax }: OutcomeLimits,
): Promise<void> {
  await lockName(tx, "outcome_counts");
  for (const { accountId, keyId, ...made } of outcomes) {
    await addOutcome(tx, { account_id: accountId, key_id: keyId, ...made }, rowsMax);
  }
  for (const { accountId, ...made } of pairs) {
    await addShadow(tx, "shadow_counts", { account_id: accountId, ...made, domain: "" });
  }
  for (const { accountId, ...made } of domains) {
    const row = { account_id: accountId, ...made };
    if (await hasRoom(tx, row, domainsMax)) await addShadow(tx, "shadow_domains", row);
  }
}

export function sqlOutcomes(db: Kysely<Database>): Outcomes {
  const ofShadow = (
    table: ShadowTable,
    { accountId, policy, version }: ShadowKey,
    fromDay: number,
  ) =>
    db
      .selectFrom(table)
      .where("account_id", "=", accountId)
      .where("policy", "=", policy)
      .where("version", "=", version)
      .where("day", ">=", fromDay);
  return {
    add: (batch, limits) => inSlice(db, (tx) => addAll(tx, batch, limits)),
    async ofAccount(accountId, fromDay) {
      const rows = await db
        .selectFrom("outcome_counts")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("day", ">=", fromDay)
        .orderBy("day")
        .execute();
      return rows.map(({ account_id: id, key_id: keyId, count, ...row }) => ({
        ...row,
        accountId: id,
        keyId,
        count: Number(count),
      }));
    },
    async shadowPairs(which, fromDay) {
      const rows = await ofShadow("shadow_counts", which, fromDay)
        .select(["day", "live", "shadow", "count"])
        .orderBy("day")
        .execute();
      return rows.map((row) => ({ ...which, ...row, count: Number(row.count) }));
    },
    async shadowDomains(which, fromDay) {
      const rows = await ofShadow("shadow_domains", which, fromDay)
        .select(["day", "domain", "live", "shadow", "count"])
        .orderBy("day", "desc")
        .orderBy("count", "desc")
        .orderBy("domain")
        .execute();
      return rows.map((row) => ({ ...which, ...row, count: Number(row.count) }));
    },
    async prune(fromDay, outcomesFromDay) {
      const outcomes = await pruneRows(db, {
        table: "outcome_counts",
        key: ["account_id", "day", "key_id", "form", "decision", "reason"],
        column: "day",
        before: outcomesFromDay,
      });
      const shadow = { key: SHADOW_KEY, column: "day", before: fromDay };
      const pairs = await pruneRows(db, { table: "shadow_counts", ...shadow });
      const domains = await pruneRows(db, { table: "shadow_domains", ...shadow });
      return outcomes + pairs + domains;
    },
  };
}
