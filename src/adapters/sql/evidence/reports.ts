import type { Kysely } from "kysely";
import type { Report, Reports } from "../../../ports/evidence/reports.ts";
import { pruneRows } from "../engine/prune-rows.ts";
import type { Database } from "../engine/schema.ts";
import type { ReportRow } from "../tables/lists.ts";
import { inTransaction, type Tx } from "../engine/transaction.ts";

const reportOf = (row: ReportRow): Report => ({
  id: row.id,
  accountId: row.account_id,
  subject: row.subject,
  domain: row.domain,
  wrong: row.wrong,
  reason: row.reason,
  createdAtMs: row.created_at_ms,
  ...(row.resolution !== null && { resolution: row.resolution }),
});

async function addIn(
  { sql }: Tx,
  report: Report,
  { sinceMs, limit }: { readonly sinceMs: number; readonly limit: number },
): Promise<boolean> {
  if ((await madeSince({ sql }, report.accountId, sinceMs)) >= limit) return false; // without a write
  // Touching the account's row lets its reports be counted one after the other (PostgreSQL).
  await sql
    .updateTable("accounts")
    .set({ id: report.accountId })
    .where("id", "=", report.accountId)
    .execute();
  if ((await madeSince({ sql }, report.accountId, sinceMs)) >= limit) return false;
  const { accountId: account_id, createdAtMs: created_at_ms, resolution, ...same } = report;
  await sql
    .insertInto("reports")
    .values({ ...same, account_id, created_at_ms, resolution: resolution ?? null })
    .execute();
  return true;
}

async function madeSince(
  { sql }: Pick<Tx, "sql">,
  accountId: string,
  sinceMs: number,
): Promise<number> {
  const { made } = await sql
    .selectFrom("reports")
    .select((build) => build.fn.countAll().as("made"))
    .where("account_id", "=", accountId)
    .where("created_at_ms", ">=", sinceMs)
    .executeTakeFirstOrThrow();
  return Number(made);
}

export function sqlReports(db: Kysely<Database>): Reports {
  return {
    add: (report, sinceMs, limit) =>
      inTransaction(db, (tx) => addIn(tx, report, { sinceMs, limit })),
    async open(limit) {
      const rows = await db
        .selectFrom("reports")
        .selectAll()
        .where("resolution", "is", null)
        .orderBy("created_at_ms")
        .orderBy("id")
        .limit(limit)
        .execute();
      return rows.map(reportOf);
    },
    async find(id) {
      const row = await db
        .selectFrom("reports")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst();
      return row && reportOf(row);
    },
    async resolve(id, resolution) {
      const { numUpdatedRows } = await db
        .updateTable("reports")
        .set({ resolution })
        .where("id", "=", id)
        .where("resolution", "is", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    prune: (beforeMs) =>
      pruneRows(db, { table: "reports", key: ["id"], column: "created_at_ms", before: beforeMs }),
  };
}
