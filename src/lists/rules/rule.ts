import { type ListTopic, type ListWord, topicOf } from "../../core/evidence/rule.ts";
import { type Kysely, sql } from "kysely";
import type { Rule } from "./entry-json.ts";
import { countRows, deleteRows, literally, lockName } from "../../store/rows.ts";
import type { Database, RuleRow } from "../../store/schema.ts";
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

/** One statement may not name a row twice (PostgreSQL): the last entry of a subject and topic counts. */
function distinctRows(entries: readonly Rule[]): readonly RuleRow[] {
  const rows = new Map<string, RuleRow>();
  for (const entry of entries) {
    const row = rowOf(entry);
    rows.set(`${row.topic} ${row.subject}`, row);
  }
  return [...rows.values()];
}

/** Makes every process look at the lists within `RULES_POLL_MS`. */
export async function countChange({ sql }: Tx): Promise<void> {
  await sql
    .updateTable("operator_changes")
    .set((build) => ({ changes: build("changes", "+", 1) }))
    .where("id", "=", 1)
    .execute();
}

/** Changes come one after the other: two of the same entries would lock them in different order. */
const takeTurn = (tx: Tx): Promise<void> => lockName(tx, "operator_entries");

async function saveIn(tx: Tx, rows: readonly RuleRow[]): Promise<void> {
  await takeTurn(tx);
  for (let from = 0; from < rows.length; from += ROWS_MAX) {
    await tx.sql
      .insertInto("operator_entries")
      .values(rows.slice(from, from + ROWS_MAX))
      .onConflict((conflict) =>
        conflict.columns(["subject", "topic"]).doUpdateSet((build) => ({
          word: build.ref("excluded.word"),
          note: build.ref("excluded.note"),
          author: build.ref("excluded.author"),
          created_at_ms: build.ref("excluded.created_at_ms"),
          expires_at_ms: build.ref("excluded.expires_at_ms"),
        })),
      )
      .execute();
  }
  if (rows.length > 0) await countChange(tx);
}

async function search(db: Kysely<Database>, query: EntryQuery): Promise<FoundEntries> {
  const { text, word, nowMs, limit } = query;
  const pattern = `%${literally(text.toLowerCase())}%`;
  const inForce = db
    .selectFrom("operator_entries")
    .where((build) =>
      build.or([build("expires_at_ms", "is", null), build("expires_at_ms", ">", nowMs)]),
    )
    .where(
      sql<boolean>`(subject like ${pattern} escape '\\' or lower(note) like ${pattern} escape '\\')`,
    );
  const matching = word === undefined ? inForce : inForce.where("word", "=", word);
  const rows = await matching
    .selectAll()
    .orderBy("subject")
    .orderBy("topic")
    .limit(limit)
    .execute();
  return { entries: rows.map(entryOf), total: await countRows(matching) };
}

export function sqlRules(db: Kysely<Database>): RuleStore {
  // Built once: every process asks it every 1.5 s.
  const counted = db.selectFrom("operator_changes").select("changes").where("id", "=", 1).compile();
  return {
    async changes() {
      const { rows } = await db.executeQuery(counted);
      return Number(rows[0]?.changes ?? 0);
    },
    async all() {
      const rows = await db
        .selectFrom("operator_entries")
        .selectAll()
        .orderBy("subject")
        .orderBy("topic")
        .execute();
      return rows.map(entryOf);
    },
    search: (query) => search(db, query),
    save: (entries) => inTransaction(db, (tx) => saveIn(tx, distinctRows(entries))),
    forget: (subject, topic) =>
      inTransaction(db, async (tx) => {
        await takeTurn(tx);
        const said = topic === undefined ? { subject } : { subject, topic };
        const gone = await deleteRows(tx.sql, "operator_entries", said);
        if (gone > 0) await countChange(tx);
        return gone;
      }),
    async prune(nowMs) {
      const { numDeletedRows } = await db
        .deleteFrom("operator_entries")
        .where("expires_at_ms", "<=", nowMs)
        .executeTakeFirst();
      return Number(numDeletedRows); // what has expired says nothing already: no change
    },
  };
}

export interface EntryQuery {
  /** Part of the subject or of the note, in any case; "" for all. */
  readonly text: string;
  readonly word?: ListWord;
  readonly nowMs: number;
  readonly limit: number;
}

export interface FoundEntries {
  readonly entries: readonly Rule[];
  readonly total: number;
}

/** Keeps the operator's lists. Rules are checked by `test/contracts/evidence/rules.ts`. */
export interface RuleStore {
  /** Grows with every change that any process makes. */
  changes(): Promise<number>;
  /** All entries, expired ones too, by subject. */
  all(): Promise<readonly Rule[]>;
  search(query: EntryQuery): Promise<FoundEntries>;
  /** All of them or none; each replaces the entry of the same subject and topic. */
  save(entries: readonly Rule[]): Promise<void>;
  /** Deletes what is said of a subject, on one topic or on all; returns how many entries. */
  forget(subject: string, topic?: ListTopic): Promise<number>;
  prune(nowMs: number): Promise<number>;
}
