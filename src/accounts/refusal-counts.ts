import type { Kysely } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { WriteBehind } from "../base/write-behind.ts";
import { dayOf } from "../core/calendar.ts";
import { pruneRows } from "../store/rows.ts";
import type { Database, RefusalCountRow } from "../store/schema.ts";
import { accountCounts, type CountDeps } from "./account-counts.ts";

const SHOWN_MAX = 50;
const KEPT_DAYS = 400;
const KEY = ["account_id", "day", "key_id", "code"] as const;

interface RefusalSum {
  readonly code: string;
  /** Null for requests without a key. */
  readonly key_id: string | null;
  readonly count: number;
}

/** Counts refused requests of accounts by day, key and code of the refusal. A kill may lose a second of them. */
export class RefusalCounts {
  readonly #db: Kysely<Database>;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #rows: WriteBehind<RefusalCountRow>;

  constructor(db: Kysely<Database>, deps: CountDeps) {
    this.#db = db;
    this.#clock = deps.clock;
    this.#rows = accountCounts(db, "refusal_counts", KEY, {
      ...deps,
      event: "refusals.flush_failed",
    });
  }

  /** `keyId`: "" for a request without a key, as of the dashboard. */
  note(accountId: string, keyId: string, code: string): void {
    const day = dayOf(this.#clock.nowMs());
    const row = { account_id: accountId, day, key_id: keyId, code, count: 1 };
    this.#rows.note(`${accountId} ${String(day)} ${keyId} ${code}`, row);
  }

  flush(): Promise<void> {
    return this.#rows.flush();
  }

  /** Sums of the last `days` days, most often first, at most 50. */
  async of(accountId: string, days: number): Promise<readonly RefusalSum[]> {
    const rows = await this.#db
      .selectFrom("refusal_counts")
      .select(({ fn }) => ["code", "key_id", fn.sum<number>("count").as("count")])
      .where("account_id", "=", accountId)
      .where("day", ">", dayOf(this.#clock.nowMs()) - days)
      .groupBy(["code", "key_id"])
      .orderBy("count", "desc")
      .orderBy("code")
      .limit(SHOWN_MAX)
      .execute();
    return rows.map(({ code, key_id, count }) => ({
      code,
      key_id: key_id === "" ? null : key_id,
      count: Number(count),
    }));
  }

  prune(): Promise<number> {
    const before = dayOf(this.#clock.nowMs()) - KEPT_DAYS;
    return pruneRows(this.#db, { table: "refusal_counts", key: KEY, column: "day", before });
  }
}
