import type { OwnerKey } from "../../base/owner.ts";
import { Refusal } from "../../base/refusals.ts";
import type { SplitBatch } from "../../core/batch/batch-chunk.ts";
import type { TooMany } from "../../core/batch/batch.ts";
import { type ObjectOf, Type } from "../../core/json-schema.ts";
import type { RowNote } from "../../core/batch/result-cells.ts";
import type { StoredTable } from "./pack-batch.ts";

interface SplitOrder {
  readonly text: string;
  readonly owner: OwnerKey;
  readonly entriesMax: number | null;
  readonly left?: AbortSignal | undefined;
}

/** Splits a bulk text as `splitText` of core does, large ones on another thread. Rejects with `NoRoom`, and once `left` is aborted. */
export type Splitter = (order: SplitOrder) => Promise<SplitBatch | TooMany>;

/** The refusal for bulk requests: one field in the body; only Retry-After has the wait. */
export function forBulk(refusal: Refusal): Refusal {
  const { code, status, message, retryAfterSeconds } = refusal;
  const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new Refusal(code, status, message, more);
}

const count = (description: string) => Type.Integer({ description, minimum: 0 });

export const BULK_STATS = {
  total: count("Entries submitted, before de-duplication."),
  unique: count(
    "Distinct entries: `invalid_format` + `invalid_dns` + `disposable` + `valid`, always.",
  ),
  invalid_format: count("Entries with invalid format."),
  invalid_dns: count(
    "Entries that are not disposable and have `dns` false, inconclusive ones too.",
  ),
  disposable: count("Entries detected as disposable."),
  valid: count("The entries that the view endpoint lists."),
  session: Type.String({
    pattern: "^[0-9a-f]{32}$",
    description: "For `/api/view/{session}`; expires 15 minutes after the results are created.",
  }),
};
export type BulkStats = ObjectOf<typeof BULK_STATS>;

export interface QueuedBatch {
  readonly session: string;
  readonly status: "pending";
  readonly email_count: number;
  readonly estimated_seconds: number;
}

export interface BulkProgress {
  readonly session: string;
  readonly status: "pending" | "processing" | "failed" | "completed";
  readonly email_count: number;
  /** From `processing` on; never falls. */
  readonly processed_count?: number;
}

export interface CompletedSummary extends Omit<BulkStats, "session"> {
  readonly session: string;
  readonly status: "completed";
  readonly email_count: number;
  readonly processed_count: number;
}

export interface SpelledResult {
  readonly spelling: string;
  readonly isDuplicate?: boolean;
  readonly result: string;
}

/** One row of an uploaded table with the JSON texts of its entries' results; none for a blank cell. */
export interface RowResult extends RowNote {
  readonly cells: readonly string[];
  readonly results: readonly string[];
}

export const FILE_FACTS = {
  encoding: Type.String({ description: "What its text was in." }),
  column: Type.String({ description: "The column that was read: its name, or `column 2`." }),
  sheet: Type.Optional(Type.String({ description: "Of a workbook: the sheet that was read." })),
  other_columns: Type.Array(Type.String(), { description: "Which others hold entries, too." }),
  other_sheets: Type.Optional(Type.Array(Type.String())),
  rows: Type.Integer({ minimum: 0 }),
  rows_with_reason: Type.Integer({
    minimum: 0,
    description: "How many of them could not be read; the first are in `reasons`.",
  }),
  reasons: Type.Array(Type.String()),
};
export type FileFactsJson = ObjectOf<typeof FILE_FACTS>;

export interface BulkFile {
  readonly split: SplitBatch | TooMany;
  readonly table?: StoredTable;
  readonly facts?: FileFactsJson;
}

export type BulkRequest = ({ readonly text: string; readonly left?: AbortSignal } | BulkFile) & {
  readonly retry?: IdempotencyKey;
  readonly session?: string;
};

export interface IdempotencyKey {
  readonly key: string;
  /** Lower-case hex SHA-256 of everything that makes the answer: path, media type and body. */
  readonly bodyHash: string;
}

export type BulkAnswer = { readonly paidBy: "plan" | "credits" } & (
  | {
      readonly kind: "done";
      readonly stats: BulkStats;
      /** For `json`: every distinct spelling in submission order, in pages. May be read once. */
      readonly results: () => AsyncIterable<readonly SpelledResult[]>;
    }
  | { readonly kind: "queued"; readonly queued: QueuedBatch }
);

export type BulkView =
  | { readonly kind: "progress"; readonly progress: BulkProgress }
  | { readonly kind: "summary"; readonly summary: CompletedSummary }
  | {
      readonly kind: "list";
      readonly stats: BulkStats;
      readonly valid: () => AsyncIterable<readonly string[]>;
    };

export type BulkResults =
  | { readonly kind: "progress"; readonly progress: BulkProgress }
  | {
      readonly kind: "results";
      readonly stats: BulkStats;
      readonly results: () => AsyncIterable<readonly SpelledResult[]>;
      readonly table?: {
        readonly header: readonly string[];
        readonly delimiter: string;
        readonly rows: () => AsyncIterable<readonly RowResult[]>;
      };
    };
