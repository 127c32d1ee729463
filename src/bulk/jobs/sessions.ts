import type { Caller } from "../../accounts/admission/caller.ts";
import type { Clock } from "../../base/clock.ts";
import { ownerKey } from "../../base/owner.ts";
import { sessionNotFound } from "../../base/refusals.ts";
import {
  type Chunk,
  chunkEntries,
  entriesIn,
  sumOfTallies,
  type Tally,
  unpackChunk,
} from "../../core/batch/batch-chunk.ts";
import { findRow } from "../../store/rows.ts";
import { unpackLines, unpackText } from "../../store/pack.ts";
import type { Db } from "../../store/schema.ts";
import type { JobRow } from "../../store/tables/bulk.ts";
import { type StoredTable, type TablePage, unpackHeader } from "./pack-batch.ts";
import type {
  BulkProgress,
  BulkResults,
  BulkStats,
  BulkView,
  CompletedSummary,
  SpelledResult,
} from "./bulk-shapes.ts";
import { answeredIn, tallyOf } from "./jobs.ts";
import { type ResultSource, rowResults, spelledResults } from "./result-source.ts";

export interface Session extends Pick<JobRow, "session" | "owner" | "origin" | "state" | "total"> {
  readonly clientAddress: string;
  readonly isRunning: boolean;
  readonly unique: number;
  readonly charged: number;
  /** Entries that were answered; never falls. Up to 1 s late for those whose chunk is not done. */
  readonly processed: number;
  readonly tally: Tally;
  readonly chunks: number;
  readonly chunksDone: number;
  readonly expiresAtMs?: number;
  readonly table?: Pick<StoredTable, "header" | "delimiter"> & { readonly pages: number };
}

export async function sessionsOf(db: Db, hashes: readonly string[]): Promise<readonly Session[]> {
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
      tally: sumOfTallies([tallyOf(row), answered]),
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
  readonly #db: Db;

  constructor({ db }: { readonly db: Db }) {
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

export const storedResults = (
  store: Pick<SessionStore, "chunk" | "lines">,
  { session, chunks }: { readonly session: string; readonly chunks: number },
): ResultSource => ({
  chunks,
  chunk: (number) => store.chunk(session, number),
  results: (number) => store.lines(session, number, "results"),
});

export function statsOf({
  session,
  total,
  unique,
  tally: { invalidFormat, invalidDns, disposable, valid },
}: Pick<Session, "session" | "total" | "unique" | "tally">): BulkStats {
  return {
    total,
    unique,
    invalid_format: invalidFormat,
    invalid_dns: invalidDns,
    disposable,
    valid,
    session,
  };
}

/** A check that was stopped shows what was answered until then to its list alone. */
const STATUS = {
  pending: "pending",
  processing: "processing",
  stopping: "processing",
  completed: "completed",
  failed: "failed",
  stopped: "failed",
  gone: "failed",
} as const satisfies Readonly<Record<Session["state"], string>>;

function progressOf({ session, state, unique, processed }: Session): BulkProgress {
  const progress = { session, status: STATUS[state], email_count: unique };
  return state === "pending" ? progress : { ...progress, processed_count: processed };
}

function summaryOf(session: Session): CompletedSummary {
  const { session: hash, ...counts } = statsOf(session);
  return {
    session: hash,
    status: "completed",
    email_count: session.unique,
    processed_count: session.processed,
    ...counts,
  };
}

interface ReadDeps {
  readonly sessions: SessionStore;
  readonly clock: Clock;
}

type Access = "view" | "everything";

const SESSION_HASH = /^[0-9a-f]{32}$/;

function mayRead(caller: Caller, session: Session, access: Access): boolean {
  const sameAddress = caller.clientAddress === session.clientAddress;
  if (session.owner.startsWith("bucket:")) return sameAddress;
  if (ownerKey(caller.owner) === session.owner) return true;
  const isKeyless = caller.owner.kind === "bucket";
  return access === "view" && session.origin === "sync" && isKeyless && sameAddress;
}

export async function findSession(
  { sessions, clock }: ReadDeps,
  hash: string,
  { caller, access }: { readonly caller: Caller; readonly access: Access },
): Promise<Session> {
  const isHash = SESSION_HASH.test(hash);
  const session = isHash ? await sessions.find(hash, clock.nowMs()) : undefined;
  if (session === undefined || !mayRead(caller, session, access)) throw sessionNotFound();
  return session;
}

async function* validPages(
  sessions: SessionStore,
  { session, chunks }: Session,
): AsyncGenerator<readonly string[]> {
  for (let number = 0; number < chunks; number += 1) {
    const page = await sessions.lines(session, number, "valid");
    if (page === undefined) throw new Error("the session ended while it was read");
    if (page.length > 0) yield page;
  }
}

export async function viewSession(deps: ReadDeps, caller: Caller, hash: string): Promise<BulkView> {
  const session = await findSession(deps, hash, { caller, access: "view" });
  if (session.state !== "completed") return { kind: "progress", progress: progressOf(session) };
  if (session.tally.valid === 0) return { kind: "summary", summary: summaryOf(session) };
  const valid = (): AsyncIterable<readonly string[]> => validPages(deps.sessions, session);
  return { kind: "list", stats: statsOf(session), valid };
}

export async function sessionResults(
  deps: ReadDeps,
  caller: Caller,
  hash: string,
): Promise<BulkResults> {
  const session = await findSession(deps, hash, { caller, access: "everything" });
  if (session.state !== "completed") return { kind: "progress", progress: progressOf(session) };
  const source = storedResults(deps.sessions, session);
  const { table } = session;
  const page = (number: number) => deps.sessions.page(hash, number);
  return {
    kind: "results",
    stats: statsOf(session),
    results: () => spelledResults(source, { isNoted: true }),
    ...(table !== undefined && {
      table: {
        header: table.header,
        delimiter: table.delimiter,
        rows: () => rowResults(source, table.pages, page),
      },
    }),
  };
}

const NEWEST_TRIES = 4;
const NEWEST_MAX = 6;

export async function newestResults(
  sessions: Pick<SessionStore, "checked">,
  { session, chunksDone: done }: Pick<Session, "session" | "chunksDone">,
): Promise<readonly SpelledResult[]> {
  for (let number = done; number >= Math.max(0, done - NEWEST_TRIES); number -= 1) {
    const checked = await sessions.checked(session, number);
    if (checked !== undefined) return checked.slice(-NEWEST_MAX);
  }
  return [];
}
