import type { Kysely } from "kysely";
import type { VerdictCount, VerdictCounts } from "../../ports/verdict-counts.ts";
import type { Database } from "./schema.ts";
import { inTransaction, type Tx } from "./transaction.ts";

async function domainsOf({ sql }: Tx, day: number): Promise<number> {
  const { rows } = await sql
    .selectFrom("verdict_counts")
    .select((build) => build.fn.countAll().as("rows"))
    .where("day", "=", day)
    .executeTakeFirstOrThrow();
  return Number(rows);
}

/** False when the day has no row for the domain yet. */
async function grow({ sql }: Tx, count: VerdictCount): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable("verdict_counts")
    .set((build) => ({
      disposable: build("disposable", "+", count.disposable),
      other: build("other", "+", count.other),
    }))
    .where("day", "=", count.day)
    .where("domain", "=", count.domain)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function addIn(tx: Tx, counts: readonly VerdictCount[], domainsMax: number): Promise<void> {
  const room = new Map<number, number>();
  for (const count of counts) {
    const left = room.get(count.day) ?? domainsMax - (await domainsOf(tx, count.day));
    const isKnown = await grow(tx, count);
    if (!isKnown && left > 0) {
      // Another process may have made the row since: then these few are not counted.
      await tx.sql
        .insertInto("verdict_counts")
        .values({ ...count })
        .onConflict((conflict) => conflict.columns(["day", "domain"]).doNothing())
        .execute();
    }
    room.set(count.day, isKnown ? left : left - 1);
  }
}

export function sqlVerdictCounts(db: Kysely<Database>): VerdictCounts {
  return {
    add: (counts, domainsMax) => inTransaction(db, (tx) => addIn(tx, counts, domainsMax)),
    async page(fromDay, afterDomain, limit) {
      const rows = await db
        .selectFrom("verdict_counts")
        .select((build) => [
          "domain",
          build.fn.sum("disposable").as("disposable"),
          build.fn.sum("other").as("other"),
        ])
        .where("day", ">=", fromDay)
        .where("domain", ">", afterDomain)
        .groupBy("domain")
        .orderBy("domain")
        .limit(limit)
        .execute();
      return rows.map(({ domain, disposable, other }) => ({
        domain,
        disposable: Number(disposable),
        other: Number(other),
      }));
    },
    async prune(fromDay) {
      const { numDeletedRows } = await db
        .deleteFrom("verdict_counts")
        .where("day", "<", fromDay)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}
