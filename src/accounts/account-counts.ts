import { type Kysely, sql } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { addCount, WriteBehind } from "../base/write-behind.ts";
import type { Database } from "../store/schema.ts";

const FLUSH_AFTER_MS = 1_000;
const BATCH = 500;
const WAITING_MAX = 20_000;

type CountTable = "hour_counts" | "refusal_counts";

export interface CountDeps {
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}

/** Adds counts of accounts to a table, a second later; a kill may lose that second. `event` is logged when a write fails. */
export const accountCounts = <Table extends CountTable>(
  db: Kysely<Database>,
  table: Table,
  key: readonly (keyof Database[Table] & string)[],
  { clock, log, event }: CountDeps & { readonly event: string },
): WriteBehind<Database[Table]> =>
  new WriteBehind<Database[Table]>({
    afterMs: FLUSH_AFTER_MS,
    batch: BATCH,
    max: WAITING_MAX,
    merge: addCount,
    clock,
    save: (rows) => save(db, table, key, rows),
    failed: (fault, lost) => log.error(event, fault, { lost }),
  });

/** Leaves out accounts that were deleted meanwhile. Rows go in one order, so that no two writers wait for each other. */
async function save<Table extends CountTable>(
  db: Kysely<Database>,
  table: Table,
  key: readonly (keyof Database[Table] & string)[],
  rows: readonly (Database[Table] & { account_id: string; count: number })[],
): Promise<void> {
  const known = await db
    .selectFrom("accounts")
    .select("id")
    .where("id", "in", [...new Set(rows.map((row) => row.account_id))])
    .execute();
  const ids = new Set(known.map(({ id }) => id));
  const orderOf = (row: Database[Table]): string => key.map((name) => String(row[name])).join(" ");
  const kept = rows
    .filter((row) => ids.has(row.account_id))
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  if (kept.length === 0) return;
  const columns = key.map((name) => sql.ref(name));
  const names = [...key, "count"].map((name) => sql.ref(name));
  const values = kept.map((row) => {
    const cells = [...key.map((name) => row[name]), row.count];
    return sql`(${sql.join(cells)})`;
  });
  await sql`
    insert into ${sql.table(table)} (${sql.join(names)}) values ${sql.join(values)}
    on conflict (${sql.join(columns)}) do update set count = ${sql.ref(`${table}.count`)} + excluded.count
  `.execute(db);
}
