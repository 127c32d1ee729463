import { type Deadline, isPassing, pause, type Question, startDeadline } from "./question.ts";
import { GatepostError, isFields, type Result, unlike } from "./results.ts";

export interface Progress {
  /** For `resume`, also after a restart; results are kept for 15 minutes. */
  readonly session: string;
  readonly status: string;
  readonly done: number;
  readonly total: number;
}

export interface BulkStats {
  readonly total: number;
  readonly unique: number;
  readonly invalid_format: number;
  readonly invalid_dns: number;
  readonly disposable: number;
  readonly valid: number;
  readonly session: string;
}

export interface BulkResult {
  readonly session: string;
  readonly stats: BulkStats;
  /** By entry, as it was sent. */
  readonly results: ReadonlyMap<string, Result>;
}

export interface Path {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Gives the JSON of one try; throws a GatepostError without one. */
export type Asking = (
  question: Omit<Question, "url" | "headers"> & Path,
  deadline: Deadline,
) => Promise<unknown>;

export interface BulkWork {
  readonly asking: Asking;
  readonly deadline: Deadline;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** A hundred thousand results with some room. */
const BULK_MAX_BYTES = 134_217_728;
/** The service works on a batch for up to 10 s before it queues it. */
const TRY_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const PAUSE_MAX_MS = 5_000;

/** Submits once, whatever happens on the way: the service knows the key of a repeated request. */
export async function submitBulk(
  entries: readonly string[],
  idempotencyKey: string,
  work: BulkWork,
): Promise<BulkResult> {
  const fields = await persist(work, {
    path: "/api/email",
    method: "POST",
    headers: { "idempotency-key": idempotencyKey },
    body: JSON.stringify({ email: entries.join("\n"), bulk: true, json: true }),
    maxBytes: BULK_MAX_BYTES,
  });
  if (isFields(fields["results"])) return finished(fields, work);
  const { session } = fields;
  if (typeof session !== "string") throw unlike();
  return resumeBulk(session, work);
}

/** Waits for a batch that was submitted. */
export async function resumeBulk(session: string, work: BulkWork): Promise<BulkResult> {
  const path = `/api/view/${encodeURIComponent(session)}/json`;
  try {
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 1.5, PAUSE_MAX_MS)) {
      const fields = await persist(work, { path, maxBytes: BULK_MAX_BYTES });
      if (isFields(fields["results"])) return finished(fields, work);
      report(fields, session, work);
      await pause(wait, work.deadline);
    }
  } catch (error) {
    if (error instanceof GatepostError) error.session ??= session;
    throw error;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function report(fields: Fields, session: string, { onProgress }: BulkWork): void {
  const { status, email_count: total, processed_count: done = 0 } = fields;
  if (status === "failed") throw new GatepostError("failed", "The batch failed.");
  if (typeof status !== "string" || typeof total !== "number" || typeof done !== "number") {
    throw unlike();
  }
  onProgress?.({ session, status, done, total });
}

function finished({ session, stats, results }: Fields, { onProgress }: BulkWork): BulkResult {
  if (typeof session !== "string" || !isFields(stats) || !isFields(results)) throw unlike();
  const bySent = new Map(Object.entries(results)) as Map<string, Result>;
  const { unique } = stats as unknown as BulkStats;
  onProgress?.({ session, status: "completed", done: unique, total: unique });
  return { session, stats: stats as unknown as BulkStats, results: bySent };
}

/** Repeats what does no harm twice until the deadline: after what passes by itself, and when the service says when. */
async function persist(
  { asking, deadline }: BulkWork,
  question: Parameters<Asking>[0],
): Promise<Fields> {
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, PAUSE_MAX_MS)) {
    const one = startDeadline(Math.min(TRY_MS, deadline.left()), deadline.signal);
    try {
      const fields = await asking(question, one);
      if (!isFields(fields)) throw unlike();
      return fields;
    } catch (error) {
      if (!(error instanceof GatepostError) || !passesByItself(error)) throw error;
      wait = Math.max(wait, (error.retryAfter ?? 0) * 1_000);
      if (wait > deadline.left()) throw error;
    } finally {
      one.clear();
    }
    await pause(wait, deadline);
  }
}

/** 429: another batch is running, or the rate is spent. 409: the first request is still being answered. */
const passesByItself = (fault: GatepostError): boolean =>
  isPassing(fault) || fault.kind === "timeout" || fault.status === 429 || fault.status === 409;
