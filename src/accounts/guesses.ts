import { sql } from "kysely";
import type { Note } from "./audit.ts";
import { findRow } from "../store/rows.ts";
import { pruneRows } from "../store/prune.ts";
import type { Db } from "../store/schema.ts";

export interface GuessTaking {
  readonly isGranted: boolean;
  readonly tries: number;
  readonly waitMs: number;
}

const FREE_TRIES = 10;

const DELAY_MS = 10_000;
const DELAY_MAX_MS = 900_000;

const LAST_STEP = FREE_TRIES + Math.ceil(Math.log2(DELAY_MAX_MS / DELAY_MS));

/**
 * Tries of a password, by what is guessed. Ten in an hour are free; each further one starts a delay that doubles from
 * 10 s to 15 min. An hour without a try forgets them. Rules are checked by `test/contracts/account/guesses.ts`.
 */
export class Guesses {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Counts a try before it is looked at, in one step: of a thousand at once no more are granted. */
  async take(key: string, nowMs: number): Promise<GuessTaking> {
    const isOver = sql<boolean>`guesses.last_ms <= ${nowMs - 3_600_000}`;
    const delay = sql`case when guesses.tries + 1 >= ${sql.lit(LAST_STEP)} then ${sql.lit(DELAY_MAX_MS)}
      else ${sql.lit(DELAY_MS)} * (1 << (guesses.tries + 1 - ${sql.lit(FREE_TRIES)})) end`;
    const tried = {
      tries: sql<number>`case when ${isOver} then 1 else guesses.tries + 1 end`,
      next_ms: sql<number>`case when ${isOver} or guesses.tries + 1 < ${sql.lit(FREE_TRIES)} then 0
        else ${sql.lit(nowMs)} + ${delay} end`,
      last_ms: nowMs,
    };
    const row = await this.#db
      .insertInto("guesses")
      .values({ key, tries: 1, last_ms: nowMs, next_ms: 0 })
      .onConflict((conflict) =>
        conflict.column("key").doUpdateSet(tried).where("guesses.next_ms", "<=", nowMs),
      )
      .returning(["tries", "next_ms"])
      .executeTakeFirst();
    const known = row ?? (await findRow(this.#db, "guesses", { key }));
    const waitMs = Math.max(0, (known?.next_ms ?? 0) - nowMs);
    return { isGranted: row !== undefined, tries: known?.tries ?? 0, waitMs };
  }

  async giveBack(key: string): Promise<void> {
    const one = { tries: sql<number>`tries - 1`, next_ms: 0 };
    const tried = this.#db.updateTable("guesses").where("tries", ">", 0);
    await tried.set(one).where("key", "=", key).execute();
  }

  async places(accountId: string): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom("audit_entries")
      .select("client_address")
      .where("account_id", "=", accountId)
      .where("action", "=", "session.started")
      .orderBy("at_ms", "desc")
      .limit(100)
      .execute();
    return rows.map((row) => row.client_address);
  }

  async forget(accountId: string, note?: Note): Promise<boolean> {
    const tried = this.#db
      .deleteFrom("guesses")
      .where((is) => is.or([is("key", "=", accountId), is("key", "like", `${accountId} %`)]));
    const isDelayed = (await tried.executeTakeFirst()).numDeletedRows > 0n;
    if (isDelayed) await note?.({ action: "account.lockout_ended", accountId });
    return isDelayed;
  }

  prune(before: number): Promise<number> {
    return pruneRows(this.#db, { table: "guesses", key: ["key"], column: "last_ms", before });
  }
}
