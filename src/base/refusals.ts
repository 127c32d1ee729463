import { DAY_MS, dayOf, isoTime, nextMonthStart } from "../core/calendar.ts";

/** Every sentence we say no with. `docs/errors.md` is held against this file by a test. */

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
  400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 414 | 415 | 422 | 429 | 431 | 501 | 503;

export interface RefusalDetail {
  readonly retry_after?: number;
  readonly reset_at?: string;
  /** Of `/readyz`, for who may read `/metrics`. */
  readonly broken?: readonly object[];
}

/** A request we understood and will not serve. The message is shown to the client as it stands. */
export class Refusal extends StacklessError {
  readonly code: string;
  readonly status: RefusalStatus;
  readonly detail: RefusalDetail;
  readonly retryAfterSeconds: number | undefined;
  /** A hint for the header `Gatepost-Notice`, where the sentence itself is fixed. ASCII. */
  readonly notice: string | undefined;

  constructor(
    code: string,
    status: RefusalStatus,
    message: string,
    more: {
      readonly detail?: RefusalDetail;
      readonly retryAfterSeconds?: number | undefined;
      readonly notice?: string | undefined;
    } = {},
  ) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.status = status;
    this.detail = more.detail ?? {};
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.notice = more.notice;
  }
}

const fixed =
  (code: string, status: RefusalStatus, message: string, retryAfterSeconds?: number) =>
  (): Refusal =>
    new Refusal(code, status, message, { retryAfterSeconds });

/** One whose sentence is said by who refuses. */
const saying =
  (code: string, status: RefusalStatus) =>
  (message: string): Refusal =>
    new Refusal(code, status, message);

export function missingParameter(name: string): Refusal {
  return new Refusal("missing_parameter", 400, `Missing parameter: ${name}.`);
}

export function wrongType(name: string): Refusal {
  const message = `Parameter ${name} must be text, a boolean or an array of text.`;
  return new Refusal("wrong_type", 400, message);
}

/** What HTTP itself forbids in a request: raw octets in a target, broken framing. */
export const badRequest = fixed("bad_request", 400, "Bad request.");
export const badHost = fixed("bad_host", 400, "The header Host is not a valid host name.");

/** Another coding than chunked (RFC 9112 section 6.1). */
export const unsupportedTransfer = fixed(
  "unsupported_transfer",
  501,
  "Transfer-Encoding is not supported: send the body as it is, or chunked.",
);
export const invalidJson = fixed("invalid_json", 400, "Body is not a valid JSON object.");
export const bodyCutShort = fixed("body_cut_short", 400, "Body ended before its announced length.");
export const notFound = fixed("not_found", 404, "Not found.");
export const methodNotAllowed = fixed("method_not_allowed", 405, "Method not allowed.");

export const requestTimedOut = fixed("request_timed_out", 408, "Request timed out.");
export const bodyTooLarge = fixed("body_too_large", 413, "The body of the request is too large.");

export const decideBodyTooLarge = fixed(
  "decide_body_too_large",
  413,
  "The body is too large for a decision.",
);

export const hookPayloadTooLarge = fixed(
  "hook_payload_too_large",
  413,
  "The payload of a hook has at most 1,048,576 octets.",
);

export const targetTooLong = fixed("target_too_long", 414, "Request target too long.");
export const unsupportedMediaType = fixed(
  "unsupported_media_type",
  415,
  "Content-Type must be application/x-www-form-urlencoded, multipart/form-data or application/json.",
);

export const unsupportedEncoding = fixed(
  "unsupported_encoding",
  415,
  "Content-Encoding is not supported: send the body as it is.",
);
export const headersTooLarge = fixed("headers_too_large", 431, "Request header fields too large.");

export const tooMuchAtOnce = fixed(
  "too_much_at_once",
  429,
  "You have too many requests under way. Wait for them to finish, then try again.",
  5,
);

/** A resource is full, and no other owner holds more than an equal part of it. */
export const serviceFull = (retryAfterSeconds = 5): Refusal =>
  new Refusal("service_full", 503, "Service is busy. Please try again in a few minutes.", {
    retryAfterSeconds,
  });

export const storeUnavailable = (
  retryAfterSeconds = 5,
  message = "Service temporarily unavailable",
): Refusal => new Refusal("store_unavailable", 503, message, { retryAfterSeconds });

/** The same for people at the dashboard, who are told the part; programs know the other sentence. */
export const STORE_AWAY =
  "The database of this service does not answer, or takes no writes. Try again in a minute.";

export const diskFull = fixed(
  "disk_full",
  503,
  "The disk of this service is full, so that nothing can be stored. Its operator must free some space.",
  60,
);

export function notReady(names: readonly string[], detail: RefusalDetail = {}): Refusal {
  return new Refusal("not_ready", 503, `Not ready: ${names.join(", ")}.`, { detail });
}

export const metricsUnauthorized = fixed(
  "metrics_unauthorized",
  401,
  "/metrics needs its bearer token.",
);

export const metricsClosed = fixed("metrics_closed", 403, "/metrics is open to this machine only.");

/** Under `/account/` and on `/metrics`: another site's name may have been pointed here (DNS rebinding). */
export const hostNotAllowed = fixed(
  "host_not_allowed",
  403,
  "This host name is not allowed here. The operator can add it to GATEPOST_ALLOWED_HOSTS.",
);

/** What a fault looks like from outside. Not a refusal: the status is 500 and the log knows more. */
export const INTERNAL_ERROR_MESSAGE = "Internal error.";
export const INTERNAL_ERROR_CODE = "internal_error";

/** One for all: a stack for every guess would make guessing cost more than asking. */
const INVALID_API_KEY = new Refusal("invalid_api_key", 401, "Invalid API key.");

export const invalidApiKey = (): Refusal => INVALID_API_KEY;

export const accountDisabled = fixed("account_disabled", 403, "This account is disabled.");

export const RATE_EXCEEDED = "rate_exceeded";
const KNOWN_RATES = new Map<number, Refusal>();

export function rateExceeded(closesInMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(closesInMs / 1_000));
  const known = KNOWN_RATES.get(seconds);
  if (known !== undefined) return known;
  const message = `Rate limit exceeded. Try again in ${String(seconds)} seconds.`;
  const detail = { retry_after: seconds };
  const made = new Refusal(RATE_EXCEEDED, 429, message, { detail, retryAfterSeconds: seconds });
  KNOWN_RATES.set(seconds, made);
  return made;
}

export function quotaExceeded(
  period: "day" | "month",
  nowMs: number,
  limit: number | null,
): Refusal {
  const today = dayOf(nowMs);
  const resetMs = (period === "day" ? today + 1 : nextMonthStart(today)) * DAY_MS;
  const message = `${period === "day" ? "Daily" : "Monthly"} quota exceeded.`;
  const detail = { reset_at: isoTime(resetMs) };
  const retryAfterSeconds = Math.max(1, Math.ceil((resetMs - nowMs) / 1_000));
  const notice = limit === null ? undefined : `The quota is ${figure(limit)} units a ${period}.`;
  return new Refusal("quota_exceeded", 429, message, { detail, retryAfterSeconds, notice });
}

export const webhookUrlRefused = saying("webhook_url_refused", 422);

export function unknownWebhookEvent(name: string, known: readonly string[]): Refusal {
  const message = `Unknown event: ${name}. Known events: ${known.join(", ")}.`;
  return new Refusal("unknown_webhook_event", 422, message);
}

export const noWebhook = fixed("no_webhook", 404, "No webhook is set for this account.");

export function tooManyPings(most: number): Refusal {
  const message = `At most ${String(most)} test pings a minute.`;
  return new Refusal("too_many_pings", 429, message, { retryAfterSeconds: 60 });
}

export const notSignedIn = fixed("not_signed_in", 401, "Sign in first.");

/** The same for an unknown address, a wrong password and an account without one. */
export const wrongPassword = fixed("wrong_password", 401, "Email address or password is wrong.");
export const secondFactorNeeded = fixed(
  "second_factor_needed",
  401,
  "The password is right. Give the code of your authenticator app too.",
);
export const wrongSecondFactor = fixed(
  "wrong_second_factor",
  401,
  "That code is wrong, over or used. Wait for the next one, or give a recovery code.",
);
export const wrongCurrentPassword = fixed(
  "wrong_current_password",
  403,
  "That is not your password.",
);
export const adminsOnly = fixed("admins_only", 403, "This is for administrators.");

export function foreignOrigin(proxy?: string): Refusal {
  const hint =
    proxy === undefined
      ? ""
      : ` It came through ${proxy}: if that is your proxy, name it in GATEPOST_TRUST_PROXY, and the address that people open in GATEPOST_PUBLIC_URL.`;
  return new Refusal("foreign_origin", 403, `The request did not come from this site.${hint}`);
}

export function tooManyAttempts(closesInMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(closesInMs / 1_000));
  const message = `Too many attempts. Try again in ${String(seconds)} seconds.`;
  return new Refusal("too_many_attempts", 429, message, { retryAfterSeconds: seconds });
}

export const signUpClosed = fixed(
  "sign_up_closed",
  403,
  "Accounts are made by the operator of this service.",
);
export const setUpOpen = fixed(
  "set_up_open",
  403,
  "This service is being set up. Accounts can be made once it has its first administrator.",
);

const SET_UP_REASONS = {
  used: "The service has an administrator already, or no link is open. Restart it for a new link.",
  old: "It is older than 30 minutes. Restart the service for a new one.",
  wrong: "It is not the one that the service printed at its last start.",
} as const;

export function setUpLinkInvalid(why: keyof typeof SET_UP_REASONS): Refusal {
  const message = `This set-up link does not work. ${SET_UP_REASONS[why]}`;
  return new Refusal("set_up_link_invalid", 403, message);
}

export function signUpsSpent(most: number): Refusal {
  const message = `At most ${String(most)} accounts a day can be made from one address. Try again tomorrow.`;
  return new Refusal("sign_ups_spent", 429, message);
}

export const badField = saying("bad_field", 400);

/** Something that stands in the way as things are now: a limit, an order of steps. */
export const notNow = saying("not_now", 409);

export const adminTierKept = fixed(
  "admin_tier",
  409,
  "An administrator has the plan pro. Take the administrator rights away first.",
);
export const noSuchPolicy = fixed("no_such_policy", 404, "No such policy.");

export function badParameter(name: string, rule: string): Refusal {
  return new Refusal("bad_parameter", 400, `Parameter ${name} must be ${rule}.`);
}

export const publishableKeyElsewhere = fixed(
  "publishable_key",
  403,
  "A publishable key works for /api/decide only.",
);
export const originNotAllowed = fixed(
  "origin_not_allowed",
  403,
  "This publishable key is not allowed from this origin.",
);
export const policyNotAllowed = fixed(
  "policy_not_allowed",
  403,
  "This publishable key has another policy.",
);

export function badPolicy(mistakes: readonly string[]): Refusal {
  return new Refusal("bad_policy", 400, mistakes.join("; "));
}

export const hookUnauthorized = saying("hook_unauthorized", 401);

export const apiKeyRequired = fixed("api_key_required", 401, "API key required.");

export const bulkTooLarge = fixed("bulk_too_large", 413, "Bulk input is too large.");

const figure = (count: number): string => count.toLocaleString("en-US");

export function uploadTooLarge(limit: number, size: number | undefined): Refusal {
  const has = size === undefined ? `more than ${figure(limit)}` : figure(size);
  const message = `The upload has ${has} octets; the limit is ${figure(limit)}.`;
  return new Refusal("upload_too_large", 413, message);
}

export function uploadTooLong(limit: number, of: "entries" | "rows" = "entries"): Refusal {
  const message = `The file has more than ${figure(limit)} ${of}, repeated ones included.`;
  return new Refusal("upload_too_long", 422, message);
}

export function tooManyEntries(limit: number, count: number): Refusal {
  const message = `Maximum ${String(limit)} unique emails allowed. Tried to load ${String(count)}.`;
  return new Refusal("too_many_entries", 422, message);
}

export function jobRunning(): Refusal {
  const message =
    "You already have a bulk job in progress. Wait for it to complete before submitting another.";
  return new Refusal("job_running", 429, message, { retryAfterSeconds: JOB_LOOK_SECONDS });
}

const JOB_LOOK_SECONDS = 10;

export function tooManyWatched(limit: number): Refusal {
  return new Refusal("too_many_watched", 422, `Your plan watches up to ${String(limit)} domains.`);
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

export const retryOtherBody = fixed(
  "retry_other_body",
  422,
  "Idempotency-Key was used with another body.",
);

/** Unknown, malformed, expired, deleted or another owner's: the answer is the same. */
export const sessionNotFound = fixed("session_not_found", 404, "Session not found or expired.");
export const badIdempotencyKey = fixed(
  "bad_retry_key",
  400,
  "Idempotency-Key must be 1 to 255 printable ASCII characters.",
);

export const badUpload = saying("bad_upload", 400);

export const notMultipart = fixed(
  "not_multipart",
  415,
  "Content-Type must be multipart/form-data.",
);
