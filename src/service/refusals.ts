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

// What the transport refuses, before any use case is asked.

/** What HTTP itself forbids in a request: raw octets in a target, broken framing. */
export function badRequest(): Refusal {
  return new Refusal("bad_request", 400, "Bad request.");
}

export function invalidJson(): Refusal {
  return new Refusal("invalid_json", 400, "Body is not a valid JSON object.");
}

export function bodyCutShort(): Refusal {
  return new Refusal("body_cut_short", 400, "Body ended before its announced length.");
}

export function notFound(): Refusal {
  return new Refusal("not_found", 404, "Not found.");
}

/** The answer names the methods that work in its `Allow` header. */
export function methodNotAllowed(): Refusal {
  return new Refusal("method_not_allowed", 405, "Method not allowed.");
}

/** The headers took longer than 10 s, or the whole request longer than 30 s. */
export function requestTimedOut(): Refusal {
  return new Refusal("request_timed_out", 408, "Request timed out.");
}

/** Over 6,100,000 octets: only a bulk list gets there. */
export function bodyTooLarge(): Refusal {
  return new Refusal("body_too_large", 413, "Bulk input is too large.");
}

/** A target over 64 KiB. */
export function targetTooLong(): Refusal {
  return new Refusal("target_too_long", 414, "Request target too long.");
}

/** A body that is neither a form nor JSON, or is compressed. */
export function unsupportedMediaType(): Refusal {
  const message = "Content-Type must be application/x-www-form-urlencoded or application/json.";
  return new Refusal("unsupported_media_type", 415, message);
}

export function headersTooLarge(): Refusal {
  return new Refusal("headers_too_large", 431, "Request header fields too large.");
}

/** The bodies of all requests under way fill the memory set aside for them. */
export function bodiesFull(): Refusal {
  const message = "Service is busy. Please try again in a few minutes.";
  return new Refusal("bodies_full", 503, message);
}

/** `names`: what does not answer, as `/readyz` knows it. */
export function notReady(names: readonly string[]): Refusal {
  return new Refusal("not_ready", 503, `Not ready: ${names.join(", ")}.`);
}

/** `/metrics` without its token, or from elsewhere than the machine itself. */
export function metricsClosed(status: 401 | 403): Refusal {
  const message =
    status === 401 ? "Invalid metrics token." : "Metrics are for this machine or with a token.";
  return new Refusal("metrics_closed", status, message);
}

/** What a fault looks like from outside. Not a refusal: the status is 500 and the log knows more. */
export const INTERNAL_ERROR_MESSAGE = "Internal error.";
export function invalidApiKey(): Refusal {
  return new Refusal("invalid_api_key", 401, "Invalid API key.");
}

export function accountDisabled(): Refusal {
  return new Refusal("account_disabled", 403, "This account is disabled.");
}

/** `closesInMs`: until the rate window closes. */
export function rateExceeded(closesInMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(closesInMs / 1_000));
  const message = `Rate limit exceeded. Try again in ${String(seconds)} seconds.`;
  const detail = { retry_after: seconds };
  return new Refusal("rate_exceeded", 429, message, { detail, retryAfterSeconds: seconds });
}

export function quotaExceeded(period: "day" | "month", nowMs: number): Refusal {
  const today = dayOf(nowMs);
  const resetMs = (period === "day" ? today + 1 : nextMonthStart(today)) * DAY_MS;
  const message = `${period === "day" ? "Daily" : "Monthly"} quota exceeded.`;
  const detail = { reset_at: isoTime(resetMs) };
  const retryAfterSeconds = Math.max(1, Math.ceil((resetMs - nowMs) / 1_000));
  return new Refusal("quota_exceeded", 429, message, { detail, retryAfterSeconds });
}

// Webhook settings.

/** `reason` says in one sentence what is wrong with the URL. */
export function webhookUrlRefused(reason: string): Refusal {
  return new Refusal("webhook_url_refused", 422, reason);
}

export function unknownWebhookEvent(name: string, known: readonly string[]): Refusal {
  const message = `Unknown event: ${name}. Known events: ${known.join(", ")}.`;
  return new Refusal("unknown_webhook_event", 422, message);
}

export function noWebhook(): Refusal {
  return new Refusal("no_webhook", 404, "No webhook is set for this account.");
}

export function tooManyPings(most: number): Refusal {
  const message = `At most ${String(most)} test pings a minute.`;
  return new Refusal("too_many_pings", 429, message, { retryAfterSeconds: 60 });
}

// Explanations and reports.

export function apiKeyRequired(): Refusal {
  return new Refusal("api_key_required", 401, "API key required.");
}

export function unknownReportField(known: readonly string[]): Refusal {
  const message = `Parameter wrong must be one of: ${known.join(", ")}.`;
  return new Refusal("unknown_report_field", 422, message);
}

export function reasonTooLong(most: number): Refusal {
  const message = `Parameter reason must have at most ${String(most)} characters.`;
  return new Refusal("reason_too_long", 422, message);
}

/** `closesInMs`: until the UTC day ends. */
export function tooManyReports(most: number, closesInMs: number): Refusal {
  const retryAfterSeconds = Math.max(1, Math.ceil(closesInMs / 1_000));
  const message = `At most ${String(most)} reports a day.`;
  return new Refusal("too_many_reports", 429, message, { retryAfterSeconds });
}
