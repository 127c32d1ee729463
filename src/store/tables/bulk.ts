import { sql } from "kysely";
/** Literals, as the partial indexes have them: for a bound value SQLite would prepare the statement each time. */
export const [RUNNING, UNTOLD] = [sql.lit(1), sql.lit(0)];

export interface BulkTables {
  jobs: JobRow;
  chunks: ChunkRow;
  table_pages: { session: string; number: number; content: Uint8Array };
  bulk_workers: { worker: string; entries_per_second: number; seen_at_ms: number };
  retry_keys: IdempotencyKeyRow;
  account_lists: AccountListRow;
  account_list_parts: { list: string; number: number; content: Uint8Array };
  list_history: ListHistoryRow;
}

export interface JobRow {
  session: string;
  owner: string;
  client_address: string;
  origin: "sync" | "queued";
  /** `gone`: only the cooldown still wants the row. `stopping`: what is under way is finished; then it is `stopped`. */
  state: "pending" | "processing" | "completed" | "failed" | "gone" | "stopping" | "stopped";
  /** 1 while it holds its owner's one slot, which a partial unique index guards. */
  is_running: number;
  spam_trap: number;
  total: number;
  unique_count: number;
  processed: number;
  invalid_format: number;
  disposable: number;
  invalid_dns: number;
  valid: number;
  chunk_count: number;
  open_chunks: number;
  charge_id: string;
  accepted_at_ms: number;
  /** Where its next chunk ends, on a counter of turns that all running jobs share; the least is next. */
  served_turn: number;
  /** Since when its chunks were wholly inconclusive without a break. */
  dns_down_since_ms: number | null;
  expires_at_ms: number | null;
  /** 0 from its completion until it is taken for announcing; otherwise 1. */
  announced: number;
  table_header: string | null;
  table_pages: number;
}

export interface ChunkRow {
  session: string;
  number: number;
  entries: number;
  content: Uint8Array;
  /** When it may be claimed: the end of its lease or of a pause. Null: it is done. */
  available_at_ms: number | null;
  lease_worker: string | null;
  lease_token: string | null;
  claims: number;
  results: Uint8Array | null;
  valid: Uint8Array | null;
  /** JSON of a `Tally`: what workers answered of it while it is not done. */
  answered: string | null;
}

export interface IdempotencyKeyRow {
  owner: string;
  key: string;
  body_hash: string;
  token: string;
  session: string | null;
  answer: string | null;
  locked_until_ms: number;
}

export interface AccountListRow {
  id: string;
  account_id: string;
  name: string;
  octets: number;
  row_count: number;
  choice: string;
  /** Sealed, compressed lines: keys of the entries whose repair is applied. */
  fixes: Uint8Array;
  /** Its sessions, oldest first, with blanks between them. */
  runs: string;
  version: number;
  created_at_ms: number;
  /** When to look whether it is over; 0: it was deleted. */
  expires_at_ms: number;
}

export interface ListHistoryRow {
  id: string;
  account_id: string;
  name: string;
  row_count: number;
  /** Entries of all its checks; the next four add up to it. */
  checked: number;
  good: number;
  disposable: number;
  no_mail: number;
  bad_format: number;
  charged: number;
  created_at_ms: number;
}

export type TablePageRow = BulkTables["table_pages"];
