import type { Kysely } from "kysely";
import type {
  OutcomeBatch,
  OutcomeCount,
  OutcomeLimits,
  Outcomes,
  ShadowCount,
  ShadowDomain,
  ShadowKey,
} from "./outcome-types.ts";
import type { Database } from "../store/schema.ts";
import { lockName, pruneRows } from "../store/rows.ts";
import { inSlice, type Tx } from "../store/transaction.ts";
import type { OutcomeCountRow, ShadowCountRow } from "../store/tables/policy.ts";

/** Where rows beyond the limit are counted. */
const OTHER_FORM = "(other)";

async function growOutcome({ sql }: Tx, made: OutcomeCountRow): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable("outcome_counts")
    .set((build) => ({ count: build("count", "+", made.count) }))
    .where("account_id", "=", made.account_id)
    .where("day", "=", made.day)
    .where("key_id", "=", made.key_id)
    .where("form", "=", made.form)
    .where("decision", "=", made.decision)
    .where("reason", "=", made.reason)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

async function outcomeRows({ sql }: Tx, accountId: string, day: number): Promise<number> {
  const { rows } = await sql
    .selectFrom("outcome_counts")
    .select((build) => build.fn.countAll().as("rows"))
    .where("account_id", "=", accountId)
    .where("day", "=", day)
    .executeTakeFirstOrThrow();
  return Number(rows);
}

async function addOutcome(tx: Tx, made: OutcomeCountRow, rowsMax: number): Promise<void> {
  if (await growOutcome(tx, made)) return;
  const isFull = (await outcomeRows(tx, made.account_id, made.day)) >= rowsMax;
  const kept = isFull ? { ...made, key_id: "", form: OTHER_FORM } : made;
  if (isFull && (await growOutcome(tx, kept))) return;
  await tx.sql.insertInto("outcome_counts").values(kept).execute();
}

const SHADOW_KEY = ["account_id", "policy", "version", "day", "live", "shadow", "domain"] as const;

async function addPair({ sql }: Tx, made: ShadowCountRow): Promise<void> {
  await sql
    .insertInto("shadow_counts")
    .values(made)
    .onConflict((conflict) =>
      conflict.columns(SHADOW_KEY).doUpdateSet((build) => ({
        count: build("shadow_counts.count", "+", build.ref("excluded.count")),
      })),
    )
    .execute();
}

async function addDomain({ sql }: Tx, made: ShadowCountRow, domainsMax: number): Promise<void> {
  const ofDay = sql
    .selectFrom("shadow_domains")
    .where("account_id", "=", made.account_id)
    .where("policy", "=", made.policy)
    .where("version", "=", made.version)
    .where("day", "=", made.day);
  const known = await ofDay.select("domain").where("domain", "=", made.domain).executeTakeFirst();
  if (known === undefined) {
    const { domains } = await ofDay
      .select((build) => build.fn.count("domain").distinct().as("domains"))
      .executeTakeFirstOrThrow();
    if (Number(domains) >= domainsMax) return;
  }
  await sql
    .insertInto("shadow_domains")
    .values(made)
    .onConflict((conflict) =>
      conflict.columns(SHADOW_KEY).doUpdateSet((build) => ({
        count: build("shadow_domains.count", "+", build.ref("excluded.count")),
      })),
    )
    .execute();
}

const outcomeRow = ({ accountId, keyId, ...made }: OutcomeCount): OutcomeCountRow => ({
  account_id: accountId,
  key_id: keyId,
  ...made,
});

const pairRow = ({ accountId, ...made }: ShadowCount): ShadowCountRow => ({
  account_id: accountId,
  ...made,
  domain: "",
});

const domainRow = ({ accountId, ...made }: ShadowDomain): ShadowCountRow => ({
  account_id: accountId,
  ...made,
});

type Task = (tx: Tx) => Promise<void>;

/** One task a row; several processes write in turn, so that none counts what another is about to insert. */
function tasksOf({ outcomes, pairs, domains }: OutcomeBatch, limits: OutcomeLimits): Task[] {
  return [
    ...outcomes.map(
      (made): Task =>
        (tx) =>
          addOutcome(tx, outcomeRow(made), limits.rowsMax),
    ),
    ...pairs.map(
      (made): Task =>
        (tx) =>
          addPair(tx, pairRow(made)),
    ),
    ...domains.map(
      (made): Task =>
        (tx) =>
          addDomain(tx, domainRow(made), limits.domainsMax),
    ),
  ];
}

async function ofAccount(
  db: Kysely<Database>,
  accountId: string,
  fromDay: number,
): Promise<readonly OutcomeCount[]> {
  const rows = await db
    .selectFrom("outcome_counts")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("day", ">=", fromDay)
    .orderBy("day")
    .execute();
  return rows.map((row) => ({
    day: row.day,
    accountId,
    keyId: row.key_id,
    form: row.form,
    decision: row.decision,
    reason: row.reason,
    count: Number(row.count),
  }));
}

async function prune(
  db: Kysely<Database>,
  fromDay: number,
  outcomesFromDay: number,
): Promise<number> {
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
}

export function sqlOutcomes(db: Kysely<Database>): Outcomes {
  const ofShadow = (
    table: "shadow_counts" | "shadow_domains",
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
    async add(batch, limits) {
      const tasks = tasksOf(batch, limits);
      await inSlice(db, async (tx) => {
        await lockName(tx, "outcome_counts");
        for (const task of tasks) await task(tx);
      });
    },
    ofAccount: (accountId, fromDay) => ofAccount(db, accountId, fromDay),
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
    prune: (fromDay, outcomesFromDay) => prune(db, fromDay, outcomesFromDay),
  };
}
