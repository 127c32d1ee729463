import { DAY_MS, dayOf, isoTime, nextMonthStart } from "../core/calendar.ts";

/** Every sentence we say no with. `docs/errors.md` is held against this file by a test. */

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
export class Refusal extends Error {
  readonly code: string;
  readonly status: RefusalStatus;
  readonly detail: RefusalDetail;
  /** Seconds for the `Retry-After` header. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: string,
    status: RefusalStatus,
    message: string,
    more: { readonly detail?: RefusalDetail; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.status = status;
    this.detail = more.detail ?? {};
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

export function missingParameter(name: string): Refusal {
  return new Refusal("missing_parameter", 400, `Missing parameter: ${name}.`);
}

export function wrongType(name: string): Refusal {
  const message = `Parameter ${name} must be text, a boolean or an array of text.`;
  return new Refusal("wrong_type", 400, message);
}

/** One for all: a stack for every guess would make guessing cost more than asking. */
const INVALID_API_KEY = new Refusal("invalid_api_key", 401, "Invalid API key.");

export const invalidApiKey = (): Refusal => INVALID_API_KEY;

export function accountDisabled(): Refusal {
  return new Refusal("account_disabled", 403, "This account is disabled.");
}

/** By seconds; a window has 60 of them. A flood beyond the rate costs no stack either. */
const RATE_EXCEEDED = new Map<number, Refusal>();

/** `closesInMs`: until the rate window closes. */
export function rateExceeded(closesInMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(closesInMs / 1_000));
  const known = RATE_EXCEEDED.get(seconds);
  if (known !== undefined) return known;
  const message = `Rate limit exceeded. Try again in ${String(seconds)} seconds.`;
  const detail = { retry_after: seconds };
  const made = new Refusal("rate_exceeded", 429, message, { detail, retryAfterSeconds: seconds });
  RATE_EXCEEDED.set(seconds, made);
  return made;
}

export function quotaExceeded(period: "day" | "month", nowMs: number): Refusal {
  const today = dayOf(nowMs);
  const resetMs = (period === "day" ? today + 1 : nextMonthStart(today)) * DAY_MS;
  const message = `${period === "day" ? "Daily" : "Monthly"} quota exceeded.`;
  const detail = { reset_at: isoTime(resetMs) };
  const retryAfterSeconds = Math.max(1, Math.ceil((resetMs - nowMs) / 1_000));
  return new Refusal("quota_exceeded", 429, message, { detail, retryAfterSeconds });
}
