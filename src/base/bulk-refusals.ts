/** An error that becomes an answer. Its stack is not read, and taking it needs 15 us. */
export class StacklessError extends Error {
  constructor(message: string) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export type RefusalStatus =
  400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 414 | 415 | 422 | 429 | 431 | 503;

/** What a refusal of a single check adds to its body. */
export interface RefusalDetail {
  /** Seconds. */
  readonly retry_after?: number;
  /** ISO 8601, UTC. */
  readonly reset_at?: string;
}

/** A request we understood and will not serve. The message is shown to the client as it stands. */
export class Refusal extends StacklessError {
  readonly code: string;
  readonly status: RefusalStatus;
  readonly detail: RefusalDetail;
  /** Seconds for the `Retry-After` header. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: string,
    status: RefusalStatus,
    message: string,
    more: { readonly detail?: RefusalDetail; readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.status = status;
    this.detail = more.detail ?? {};
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

/** What bulk requests and their sessions say no with; `refusals.ts` has the other sentences. */

export function bulkTooLarge(): Refusal {
  return new Refusal("bulk_too_large", 413, "Bulk input is too large.");
}

const figure = (count: number): string => count.toLocaleString("en-US");

/** `size`: octets, as far as they are known. */
export function uploadTooLarge(limit: number, size: number | undefined): Refusal {
  const has = size === undefined ? `more than ${figure(limit)}` : figure(size);
  const message = `The upload has ${has} octets; the limit is ${figure(limit)}.`;
  return new Refusal("upload_too_large", 413, message);
}

/** Entries of a file before de-duplication. */
export function uploadTooLong(limit: number): Refusal {
  const message = `The file has more than ${figure(limit)} entries, repeated ones included.`;
  return new Refusal("upload_too_long", 422, message);
}

export function tooManyEntries(limit: number, count: number): Refusal {
  const message = `Maximum ${String(limit)} unique emails allowed. Tried to load ${String(count)}.`;
  return new Refusal("too_many_entries", 422, message);
}

export function jobRunning(): Refusal {
  const message =
    "You already have a bulk job in progress. Wait for it to complete before submitting another.";
  return new Refusal("job_running", 429, message);
}

export function bulkCooldown(retryAfterSeconds: number): Refusal {
  const message = `Please wait ${String(retryAfterSeconds)} seconds before submitting another bulk job.`;
  return new Refusal("bulk_cooldown", 429, message, { retryAfterSeconds });
}

/** A twin with the same Idempotency-Key is being answered, or died with its process and still holds the lock. */
export function retryInFlight(retryAfterSeconds: number): Refusal {
  const message = "A request with this Idempotency-Key is in progress.";
  return new Refusal("retry_in_flight", 409, message, { retryAfterSeconds });
}

export function retryOtherBody(): Refusal {
  const message = "Idempotency-Key was used with another body.";
  return new Refusal("retry_other_body", 422, message);
}

/** The bounded buffer of entries not yet checked is full. */
export function bulkBusy(): Refusal {
  const message = "Service is busy. Please try again in a few minutes.";
  return new Refusal("bulk_busy", 503, message, { retryAfterSeconds: 60 });
}

/** The store or the queue does not work; the log knows why. */
export function bulkUnavailable(): Refusal {
  const message = "Service temporarily unavailable";
  return new Refusal("bulk_unavailable", 503, message, { retryAfterSeconds: 10 });
}

/** Unknown, malformed, expired, deleted or another owner's: the answer is the same. */
export function sessionNotFound(): Refusal {
  return new Refusal("session_not_found", 404, "Session not found or expired.");
}

export function badIdempotencyKey(): Refusal {
  const message = "Idempotency-Key must be 1 to 255 printable ASCII characters.";
  return new Refusal("bad_retry_key", 400, message);
}

/** `reason` says in one sentence what is wrong with the file. */
export function badUpload(reason: string): Refusal {
  return new Refusal("bad_upload", 400, reason);
}

export function notMultipart(): Refusal {
  return new Refusal("not_multipart", 415, "Content-Type must be multipart/form-data.");
}

/** Event streams of one owner at the same time. */
export function tooManyStreams(most: number): Refusal {
  const message = `At most ${String(most)} event streams at a time.`;
  return new Refusal("too_many_streams", 429, message, { retryAfterSeconds: 1 });
}
