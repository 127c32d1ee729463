import { type Kysely, sql } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { addCount, WriteBehind } from "../base/write-behind.ts";
import { dayOf } from "../core/calendar.ts";
import { lockName } from "../store/locks.ts";
import { pruneRows } from "../store/prune.ts";
import { upsert } from "../store/upserts.ts";
import type { Database, RefusalCountRow } from "../store/schema.ts";
import { inSlice } from "../store/transaction.ts";

const REFUSAL_KEY = ["account_id", "day", "key_id", "code"] as const;

interface RefusalSum {
  readonly code: string;
  readonly key_id: string | null;
  readonly count: number;
}

interface CountDeps {
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
}

/** Counts the refused requests of each account by day, key and code. A kill may lose the last second. */
export class RequestCounts {
  readonly #db: Kysely<Database>;
  readonly #clock: Clock;
  readonly #refusals: WriteBehind<RefusalCountRow>;

  constructor(db: Kysely<Database>, { clock, log }: CountDeps) {
    this.#db = db;
    this.#clock = clock;
    const refusal = { account_id: "", day: 0, key_id: "", code: "", count: 0 };
    const saveRefusals = upsert(db, refusal, (query, rows) => {
      const count = sql<number>`refusal_counts.count + excluded.count`;
      const adding = query.insertInto("refusal_counts").values(rows);
      return adding.onConflict((same) => same.columns(REFUSAL_KEY).doUpdateSet({ count }));
    });
    this.#refusals = new WriteBehind({
      afterMs: 1_000,
      batch: 500,
      max: 20_000,
      merge: addCount,
      clock,
      save: (rows) =>
        inSlice(db, async (tx) => {
          await lockName(tx, "request_counts"); // writers of the same rows would deadlock
          const ids = [...new Set(rows.map((row) => row.account_id))];
          const accounts = tx.sql.selectFrom("accounts").select("id").where("id", "in", ids);
          const known = new Set((await accounts.execute()).map(({ id }) => id));
          const kept = rows.filter((row) => known.has(row.account_id)); // not deleted meanwhile
          await saveRefusals(tx, kept);
        }),
      failed: (fault, lost) => log.error("refusals.flush_failed", fault, { lost }),
    });
  }

  /** `key_id`: "" for a request without a key, as of the dashboard. */
  noteRefusal(account_id: string, key_id: string, code: string): void {
    const day = dayOf(this.#clock.nowMs());
    const row = { account_id, day, key_id, code, count: 1 };
    this.#refusals.note(`${account_id} ${String(day)} ${key_id} ${code}`, row);
  }

  flush(): Promise<void> {
    return this.#refusals.flush();
  }

  async refusals(accountId: string, days: number): Promise<readonly RefusalSum[]> {
    const rows = await this.#db
      .selectFrom("refusal_counts")
      .select(({ fn }) => ["code", "key_id", fn.sum<number>("count").as("count")])
      .where("account_id", "=", accountId)
      .where("day", ">", dayOf(this.#clock.nowMs()) - days)
      .groupBy(["code", "key_id"])
      .orderBy("count", "desc")
      .orderBy("code")
      .limit(50)
      .execute();
    return rows.map((row) => ({ ...row, key_id: row.key_id || null }));
  }
}

export const pruneRequestCounts = (db: Kysely<Database>, nowMs: number): Promise<number> =>
  pruneRows(db, {
    table: "refusal_counts",
    key: REFUSAL_KEY,
    column: "day",
    before: dayOf(nowMs) - 400,
  });
