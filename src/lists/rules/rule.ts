import { type ListWord, topicOf } from "../../core/evidence/rule.ts";
import { type CompiledQuery, sql } from "kysely";
import type { Rule } from "./entry-json.ts";
import { countRows, deleteRows, literally } from "../../store/rows.ts";
import { lockName } from "../../store/locks.ts";
import type { Db, RuleRow } from "../../store/schema.ts";
import { type Tx, inTransaction } from "../../store/transaction.ts";

/** Rows of one statement, because databases limit its parameters. */
const ROWS_MAX = 500;

const entryOf = (row: RuleRow): Rule => ({
  subject: row.subject,
  word: row.word,
  note: row.note,
  author: row.author,
  createdAtMs: row.created_at_ms,
  ...(row.expires_at_ms !== null && { expiresAtMs: row.expires_at_ms }),
});

const rowOf = (entry: Rule): RuleRow => ({
  subject: entry.subject,
  topic: topicOf(entry.word),
  word: entry.word,
  note: entry.note,
  author: entry.author,
  created_at_ms: entry.createdAtMs,
  expires_at_ms: entry.expiresAtMs ?? null,
});

export async function countChange({ sql }: Tx): Promise<void> {
  await sql
    .updateTable("operator_changes")
    .set((build) => ({ changes: build("changes", "+", 1) }))
    .where("id", "=", 1)
    .execute();
}

/** Changes come one after the other: two of the same entries would lock them in different order. */
const lockEntries = (tx: Tx): Promise<void> => lockName(tx, "operator_entries");

const REPLACED = Object.fromEntries(
  ["word", "note", "author", "created_at_ms", "expires_at_ms"].map((name) => [
    name,
    sql.raw(`excluded.${name}`),
  ]),
);

interface EntryQuery {
  /** Part of the subject or of the note, in any case; "" for all. */
  readonly text: string;
  readonly word: ListWord | undefined;
  readonly nowMs: number;
  readonly limit: number;
}

export interface FoundEntries {
  readonly entries: readonly Rule[];
  readonly total: number;
}

export class RuleStore {
  readonly #db: Db;
  /** Built once: every process asks it every 1.5 s. */
  readonly #counted: CompiledQuery<{ changes: number }>;

  constructor(db: Db) {
    this.#db = db;
    const counted = db.selectFrom("operator_changes").select("changes").where("id", "=", 1);
    this.#counted = counted.compile();
  }

  async changes(): Promise<number> {
    const { rows } = await this.#db.executeQuery(this.#counted);
    return Number(rows[0]?.changes ?? 0);
  }

  async all(): Promise<readonly Rule[]> {
    const all = this.#db.selectFrom("operator_entries").selectAll();
    return (await all.orderBy("subject").orderBy("topic").execute()).map(entryOf);
  }

  async search({ text, word, nowMs, limit }: EntryQuery): Promise<FoundEntries> {
    const pattern = `%${literally(text.toLowerCase())}%`;
    const matching = this.#db
      .selectFrom("operator_entries")
      .where((build) =>
        build.or([build("expires_at_ms", "is", null), build("expires_at_ms", ">", nowMs)]),
      )
      .where(
        sql<boolean>`(subject like ${pattern} escape '\\' or lower(note) like ${pattern} escape '\\')`,
      )
      .$if(word !== undefined, (query) => query.where("word", "=", word ?? "deny"));
    const found = matching.selectAll().orderBy("subject").orderBy("topic").limit(limit);
    return { entries: (await found.execute()).map(entryOf), total: await countRows(matching) };
  }

  save(entries: readonly Rule[]): Promise<void> {
    // One statement may not name a row twice (PostgreSQL): the last entry of a subject and topic counts.
    const distinct = new Map(entries.map(rowOf).map((row) => [`${row.topic} ${row.subject}`, row]));
    const rows = [...distinct.values()];
    return inTransaction(this.#db, async (tx) => {
      await lockEntries(tx);
      for (let from = 0; from < rows.length; from += ROWS_MAX) {
        await tx.sql
          .insertInto("operator_entries")
          .values(rows.slice(from, from + ROWS_MAX))
          .onConflict((conflict) => conflict.columns(["subject", "topic"]).doUpdateSet(REPLACED))
          .execute();
      }
      if (rows.length > 0) await countChange(tx);
    });
  }

  forget(
    which: Pick<RuleRow, "subject"> | Pick<RuleRow, "author" | "created_at_ms">,
  ): Promise<number> {
    return inTransaction(this.#db, async (tx) => {
      await lockEntries(tx);
      const gone = await deleteRows(tx.sql, "operator_entries", which);
      if (gone > 0) await countChange(tx);
      return gone;
    });
  }

  async prune(nowMs: number): Promise<number> {
    const { numDeletedRows } = await this.#db
      .deleteFrom("operator_entries")
      .where("expires_at_ms", "<=", nowMs)
      .executeTakeFirst();
    return Number(numDeletedRows); // what has expired says nothing already: no change
  }
}
