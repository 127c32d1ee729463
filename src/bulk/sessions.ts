import type { Kysely } from "kysely";
import {
  type Chunk,
  chunkEntries,
  entriesIn,
  sumOf,
  type Tally,
  unpackChunk,
} from "../core/batch/batch-chunk.ts";
import { findRow, unpackLines, unpackText } from "../store/rows.ts";
import type { Database } from "../store/schema.ts";
import type { JobRow } from "../store/tables/bulk.ts";
import { type StoredRow, type StoredTable, unpackHeader } from "./batches-store.ts";
import type { SpelledResult } from "./bulk.ts";
import { answeredIn, tallyOf } from "./jobs.ts";

export interface Session extends Pick<JobRow, "session" | "owner" | "origin" | "state" | "total"> {
  readonly clientAddress: string;
  readonly isRunning: boolean;
  readonly unique: number;
  /** Units that it cost, less what was given back. */
  readonly charged: number;
  /** Entries that were answered; never falls. Up to 1 s late for those whose chunk is not done. */
  readonly processed: number;
  readonly tally: Tally;
  readonly chunks: number;
  readonly chunksDone: number;
  readonly expiresAtMs?: number;
  readonly table?: Pick<StoredTable, "header" | "delimiter"> & { readonly pages: number };
}

export interface TablePage {
  readonly rows: readonly StoredRow[];
  readonly entries: readonly number[];
}

export async function sessionsOf(
  db: Kysely<Database>,
  hashes: readonly string[],
): Promise<readonly Session[]> {
  if (hashes.length === 0) return [];
  // One statement, so that a chunk that is stored meanwhile counts once.
  const rows = await db
    .selectFrom("jobs")
    .leftJoin("chunks", (join) =>
      join.onRef("chunks.session", "=", "jobs.session").on("chunks.answered", "is not", null),
    )
    .leftJoin("charges", "charges.id", "jobs.charge_id")
    // First: where a later version adds a column, node:sqlite 22.23 forgets the last one.
    .select(["chunks.answered", "charges.amount", "charges.refunded"])
    .selectAll("jobs")
    .where("jobs.session", "in", hashes)
    .execute();
  return hashes.flatMap((hash) => {
    const its = rows.filter(({ session }) => session === hash);
    const [row] = its;
    if (row === undefined) return [];
    const answered = answeredIn(its);
    const { table_header: header, expires_at_ms: expiresAtMs } = row;
    return {
      session: hash,
      owner: row.owner,
      clientAddress: row.client_address,
      origin: row.origin,
      state: row.state,
      isRunning: row.is_running === 1,
      total: row.total,
      unique: row.unique_count,
      // Charges are kept for a week, and lists for up to a month.
      charged: Number(row.amount ?? row.processed) - Number(row.refunded ?? 0),
      processed: row.processed + entriesIn(answered),
      tally: sumOf([tallyOf(row), answered]),
      chunks: row.chunk_count,
      chunksDone: row.chunk_count - row.open_chunks,
      ...(expiresAtMs !== null && { expiresAtMs }),
      ...(header !== null && {
        table: { ...unpackHeader(header), pages: row.table_pages },
      }),
    };
  });
}

export interface PackedResults {
  readonly content: Uint8Array;
  readonly results: Uint8Array;
}

export async function checkedIn(packed: PackedResults): Promise<readonly SpelledResult[]> {
  const results = await unpackLines(packed.results);
  const chunk = unpackChunk(await unpackText(packed.content));
  return chunkEntries(chunk).map((spelling, at) => ({ spelling, result: results[at] ?? "{}" }));
}

/** Parts of a session that is gone, or not that far, are undefined. Rules: `test/contracts/bulk/session-store.ts`. */
export class SessionStore {
  readonly #db: Kysely<Database>;

  constructor({ db }: { readonly db: Kysely<Database> }) {
    this.#db = db;
  }

  async find(hash: string, nowMs: number): Promise<Session | undefined> {
    const [session] = await sessionsOf(this.#db, [hash]);
    const isOver = session?.state === "gone" || (session?.expiresAtMs ?? Infinity) <= nowMs;
    return isOver ? undefined : session;
  }

  async chunk(session: string, number: number): Promise<Chunk | undefined> {
    const packed = await this.#part(session, number, "content");
    return packed && unpackChunk(await unpackText(packed));
  }

  async lines(
    session: string,
    number: number,
    column: "results" | "valid",
  ): Promise<readonly string[] | undefined> {
    const packed = await this.#part(session, number, column);
    return packed && unpackLines(packed);
  }

  async checked(session: string, number: number): Promise<readonly SpelledResult[] | undefined> {
    const packed = await this.packed(session, number);
    return packed && (await checkedIn(packed));
  }

  async packed(session: string, number: number): Promise<PackedResults | undefined> {
    const results = await this.#part(session, number, "results");
    const content = results && (await this.#part(session, number, "content"));
    return content && { results, content };
  }

  async page(session: string, number: number): Promise<TablePage | undefined> {
    const row = await findRow(this.#db, "table_pages", { session, number });
    return row && (JSON.parse(await unpackText(row.content)) as TablePage);
  }

  async #part(
    session: string,
    chunk: number,
    column: "content" | "results" | "valid",
  ): Promise<Uint8Array | undefined> {
    const row = await this.#db
      .selectFrom("chunks")
      .select(`${column} as packed`)
      .where("session", "=", session)
      .where("number", "=", chunk)
      .executeTakeFirst();
    return row?.packed ?? undefined;
  }
}
