import { type Kysely, sql } from "kysely";
import { countRows, pruneRows, type Upsert, upsert, withinRoom } from "../store/rows.ts";
import type { Database, VerdictCountRow } from "../store/schema.ts";
import { type Tx, inSlice } from "../store/transaction.ts";

const row = ({ noMail = 0, noAnswer = 0, ...count }: VerdictCount): VerdictCountRow => ({
  day: count.day,
  domain: count.domain,
  disposable: count.disposable,
  other: count.other,
  no_mail: noMail,
  no_answer: noAnswer,
});

async function knownOf(
  { sql }: Tx,
  day: number,
  counts: readonly VerdictCount[],
): Promise<ReadonlySet<string>> {
  const rows = await sql
    .selectFrom("verdict_counts")
    .select("domain")
    .where("day", "=", day)
    .where(
      "domain",
      "in",
      counts.map(({ domain }) => domain),
    )
    .execute();
  return new Set(rows.map(({ domain }) => domain));
}

/** How many more domains of a day are kept. A day loses none, so a full one is not counted again: it takes a millisecond. */
function roomFinder(): (tx: Tx, day: number, domainsMax: number) => Promise<number> {
  let counted = { day: -1, rows: 0 };
  return async (tx, day, domainsMax) => {
    if (counted.day !== day || counted.rows < domainsMax) {
      const ofDay = tx.sql.selectFrom("verdict_counts").where("day", "=", day);
      counted = { day, rows: await countRows(ofDay) };
    }
    return domainsMax - counted.rows;
  };
}

/** By day and domain, so that no two processes wait for each other's rows. */
function inOrder(
  counts: readonly VerdictCount[],
): readonly (readonly [day: number, counts: readonly VerdictCount[]])[] {
  const sorted = counts.toSorted((a, b) => a.day - b.day || (a.domain < b.domain ? -1 : 1));
  const days = new Set(sorted.map(({ day }) => day));
  return Array.from(days, (day) => [day, sorted.filter((count) => count.day === day)]);
}

const PRUNED = { table: "verdict_counts", key: ["day", "domain"], column: "day" } as const;

const SAMPLE: VerdictCountRow = row({ day: 0, domain: "", disposable: 0, other: 0 });

const adding = (db: Kysely<Database>): Upsert<VerdictCountRow> =>
  upsert(db, SAMPLE, (builder, rows) =>
    builder
      .insertInto("verdict_counts")
      .values([...rows])
      .onConflict((conflict) =>
        conflict.columns(["day", "domain"]).doUpdateSet((build) => ({
          disposable: build("verdict_counts.disposable", "+", build.ref("excluded.disposable")),
          other: build("verdict_counts.other", "+", build.ref("excluded.other")),
          no_mail: build("verdict_counts.no_mail", "+", build.ref("excluded.no_mail")),
          no_answer: build("verdict_counts.no_answer", "+", build.ref("excluded.no_answer")),
        })),
      ),
  );

/** A disposable domain without mail counts as disposable: a domain's checks are nearly always all of one kind. */
const besideDisposable = (column: "no_mail" | "no_answer") =>
  sql<number>`coalesce(sum(case when ${sql.ref(column)} > disposable
    then ${sql.ref(column)} - disposable else 0 end), 0)`;

const sumsIn: (db: Kysely<Database>, fromDay: number) => ReturnType<VerdictCounts["sums"]> = async (
  db,
  fromDay,
) => {
  const found = await db
    .selectFrom("verdict_counts")
    .select(({ fn }) => [
      fn.sum("disposable").as("disposable"),
      fn.sum("other").as("other"),
      besideDisposable("no_mail").as("noMail"),
      besideDisposable("no_answer").as("noAnswer"),
    ])
    .where("day", ">=", fromDay)
    .executeTakeFirstOrThrow();
  const [noMail, noAnswer] = [Number(found.noMail), Number(found.noAnswer)];
  const good = Number(found.other) - noMail - noAnswer;
  return { good, disposable: Number(found.disposable), noMail, noAnswer };
};

export function sqlVerdictCounts(db: Kysely<Database>): VerdictCounts {
  const addRows = adding(db);
  const roomOn = roomFinder();
  return {
    add: (counts, domainsMax) =>
      inSlice(db, async (tx) => {
        for (const [day, ofDay] of inOrder(counts)) {
          const room = await roomOn(tx, day, domainsMax);
          const kept = await withinRoom(ofDay, room, () => knownOf(tx, day, ofDay));
          await addRows(tx, kept.map(row));
        }
      }),
    async page(fromDay, afterDomain, limit) {
      const rows = await db
        .selectFrom("verdict_counts")
        .select((build) => [
          "domain",
          build.fn.sum("disposable").as("disposable"),
          build.fn.sum("other").as("other"),
          build.fn.sum("no_mail").as("no_mail"),
          build.fn.sum("no_answer").as("no_answer"),
        ])
        .where("day", ">=", fromDay)
        .where("domain", ">", afterDomain)
        .groupBy("domain")
        .orderBy("domain")
        .limit(limit)
        .execute();
      return rows.map(({ domain, disposable, other, no_mail: noMail, no_answer: noAnswer }) => ({
        domain,
        disposable: Number(disposable),
        other: Number(other),
        ...(Number(noMail) > 0 && { noMail: Number(noMail) }),
        ...(Number(noAnswer) > 0 && { noAnswer: Number(noAnswer) }),
      }));
    },
    sums: (fromDay) => sumsIn(db, fromDay),
    prune: (fromDay) => pruneRows(db, { ...PRUNED, before: fromDay }),
  };
}

/** How often one domain was checked on one UTC day, by verdict. Never an address, never who asked. */
export interface VerdictCount {
  /** Days since the Unix epoch, UTC. */
  readonly day: number;
  readonly domain: string;
  disposable: number;
  other: number;
  /** Of both those whose domain has no mail server; absent: none. */
  noMail?: number;
  /** Of both those for which DNS did not say; absent: none. */
  noAnswer?: number;
}

export interface VerdictSums {
  readonly good: number;
  readonly disposable: number;
  readonly noMail: number;
  readonly noAnswer: number;
}

/** Keeps counts for back-tests. Rules are checked by `test/contracts/evidence/verdict-counts.ts`. */
export interface VerdictCounts {
  /** All or nothing; no domain twice for one day. New domains of a day beyond `domainsMax` are left out. */
  add(counts: readonly VerdictCount[], domainsMax: number): Promise<void>;
  /** Sums by domain from `fromDay` on, in the order of names after `afterDomain`; at most `limit`. */
  page(
    fromDay: number,
    afterDomain: string,
    limit: number,
  ): Promise<readonly Omit<VerdictCount, "day">[]>;
  sums(fromDay: number): Promise<VerdictSums>;
  prune(fromDay: number): Promise<number>;
}
