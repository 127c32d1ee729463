import type { Kysely } from "kysely";
import type { VerdictCount, VerdictCounts } from "../../../ports/evidence/verdict-counts.ts";
import { pruneRows } from "../engine/prune-rows.ts";
import type { Database } from "../engine/schema.ts";
import { inSlice, type Tx } from "../engine/transaction.ts";
import type { VerdictCountRow } from "../tables/lists.ts";
import { WIDE_ROWS, type WideInsert, wideInsert } from "../engine/wide-insert.ts";

async function domainsOf({ sql }: Tx, day: number): Promise<number> {
  const { rows } = await sql
    .selectFrom("verdict_counts")
    .select((build) => build.fn.countAll().as("rows"))
    .where("day", "=", day)
    .executeTakeFirstOrThrow();
  return Number(rows);
}

const row = ({ noMail = 0, noAnswer = 0, ...count }: VerdictCount): VerdictCountRow => ({
  day: count.day,
  domain: count.domain,
  disposable: count.disposable,
  other: count.other,
  no_mail: noMail,
  no_answer: noAnswer,
});

/** False when the day has no row for the domain yet. */
async function grow({ sql }: Tx, count: VerdictCount): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable("verdict_counts")
    .set((build) => ({
      disposable: build("disposable", "+", count.disposable),
      other: build("other", "+", count.other),
      no_mail: build("no_mail", "+", count.noMail ?? 0),
      no_answer: build("no_answer", "+", count.noAnswer ?? 0),
    }))
    .where("day", "=", count.day)
    .where("domain", "=", count.domain)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** So that no two processes wait for each other's rows. */
const inOrderOf = (counts: readonly VerdictCount[]): readonly VerdictCount[] =>
  counts.toSorted((a, b) => a.day - b.day || (a.domain < b.domain ? -1 : 1));

/** Whether one wide statement may take them: a day's, of different domains, and with room for all. */
async function areWide(tx: Tx, counts: readonly VerdictCount[], domainsMax: number) {
  const [first] = counts;
  if (first === undefined || counts.length !== WIDE_ROWS) return false;
  const domains = new Set(counts.map(({ domain }) => domain));
  if (domains.size < WIDE_ROWS || counts.some(({ day }) => day !== first.day)) return false;
  return domainsMax - (await domainsOf(tx, first.day)) >= WIDE_ROWS;
}

async function addIn(tx: Tx, counts: readonly VerdictCount[], domainsMax: number): Promise<void> {
  const room = new Map<number, number>();
  for (const count of inOrderOf(counts)) {
    const left = room.get(count.day) ?? domainsMax - (await domainsOf(tx, count.day));
    const isKnown = await grow(tx, count);
    if (!isKnown && left > 0) {
      // Another process may have made the row since: then these few are not counted.
      await tx.sql
        .insertInto("verdict_counts")
        .values(row(count))
        .onConflict((conflict) => conflict.columns(["day", "domain"]).doNothing())
        .execute();
    }
    room.set(count.day, isKnown ? left : left - 1);
  }
}

const PRUNED = { table: "verdict_counts", key: ["day", "domain"], column: "day" } as const;

const SAMPLE: VerdictCountRow = row({ day: 0, domain: "", disposable: 0, other: 0 });

const wideAdd = (db: Kysely<Database>): WideInsert<VerdictCountRow> =>
  wideInsert(db, SAMPLE, (builder, rows) =>
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

const sumsIn: (db: Kysely<Database>, fromDay: number) => ReturnType<VerdictCounts["sums"]> = async (
  db,
  fromDay,
) => {
  const found = await db
    .selectFrom("verdict_counts")
    .select(({ fn }) => [
      fn.sum("disposable").as("disposable"),
      fn.sum("other").as("other"),
      fn.sum("no_mail").as("noMail"),
      fn.sum("no_answer").as("noAnswer"),
    ])
    .where("day", ">=", fromDay)
    .executeTakeFirstOrThrow();
  const { disposable, other, noMail, noAnswer } = found;
  return {
    disposable: Number(disposable),
    other: Number(other),
    noMail: Number(noMail),
    noAnswer: Number(noAnswer),
  };
};

export function sqlVerdictCounts(db: Kysely<Database>): VerdictCounts {
  const addWide = wideAdd(db);
  return {
    add: (counts, domainsMax) =>
      inSlice(db, async (tx) => {
        if (await areWide(tx, counts, domainsMax)) await addWide(tx, inOrderOf(counts).map(row));
        else await addIn(tx, counts, domainsMax);
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
