import { DAY_MS, dayOf, isoTime, nextMonthStart } from "../core/calendar.ts";
import { Refusal } from "./bulk-refusals.ts";

/**
 * Every sentence we say no with; those of bulk requests are in `bulk-refusals.ts`. `docs/errors.md` is held against both
 * by a test.
 */

export * from "./bulk-refusals.ts";
export { Refusal, type RefusalDetail, type RefusalStatus } from "./bulk-refusals.ts";

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

/** POST /api/decide: over 1 MiB, or hundreds of thousands of values. */
export function decideBodyTooLarge(): Refusal {
  return new Refusal("decide_body_too_large", 413, "The body is too large for a decision.");
}

/** POST /hooks/{id}: over 1 MiB. */
export function hookPayloadTooLarge(): Refusal {
  return new Refusal(
    "hook_payload_too_large",
    413,
    "The payload of a hook has at most 1,048,576 octets.",
  );
}

/** A target over 64 KiB. */
export function targetTooLong(): Refusal {
  return new Refusal("target_too_long", 414, "Request target too long.");
}

/** A body that is neither a form nor JSON. */
export function unsupportedMediaType(): Refusal {
  const message =
    "Content-Type must be application/x-www-form-urlencoded, multipart/form-data or application/json.";
  return new Refusal("unsupported_media_type", 415, message);
}

/** A compressed body (RFC 9110 section 15.5.16). */
export function unsupportedEncoding(): Refusal {
  const message = "Content-Encoding is not supported: send the body as it is.";
  return new Refusal("unsupported_encoding", 415, message);
}

export function headersTooLarge(): Refusal {
  return new Refusal("headers_too_large", 431, "Request header fields too large.");
}

/** The caller has its whole share of a resource in use: bodies, streams, waiting work. */
export function tooMuchAtOnce(): Refusal {
  const message = "You have too many requests under way. Wait for them to finish, then try again.";
  return new Refusal("too_much_at_once", 429, message, { retryAfterSeconds: 5 });
}

/** A resource is full, and no other owner holds more than an equal part of it. */
export function serviceFull(): Refusal {
  const message = "Service is busy. Please try again in a few minutes.";
  return new Refusal("service_full", 503, message, { retryAfterSeconds: 5 });
}

/** The database is out of reach. The log knows why. */
export function storeUnavailable(): Refusal {
  const message = "Service temporarily unavailable";
  return new Refusal("store_unavailable", 503, message, { retryAfterSeconds: 5 });
}

/** `names`: what does not answer, as `/readyz` knows it. */
export function notReady(names: readonly string[]): Refusal {
  return new Refusal("not_ready", 503, `Not ready: ${names.join(", ")}.`);
}

/** GATEPOST_METRICS_TOKEN is set and was not sent. */
export function metricsUnauthorized(): Refusal {
  return new Refusal("metrics_unauthorized", 401, "/metrics needs its bearer token.");
}

/** No token is set, and the peer is not this machine or forwards for another client. */
export function metricsClosed(): Refusal {
  return new Refusal("metrics_closed", 403, "/metrics is open to this machine only.");
}

/** Under `/account/` and on `/metrics`: another site's name may have been pointed here (DNS rebinding). */
export function hostNotAllowed(): Refusal {
  const message =
    "This host name is not allowed here. The operator can add it to GATEPOST_ALLOWED_HOSTS.";
  return new Refusal("host_not_allowed", 403, message);
}

/** What a fault looks like from outside. Not a refusal: the status is 500 and the log knows more. */
export const INTERNAL_ERROR_MESSAGE = "Internal error.";

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

// What the dashboard refuses.

/** No session, or one that is over. */
export function notSignedIn(): Refusal {
  return new Refusal("not_signed_in", 401, "Sign in first.");
}

/** The same for an unknown address, a wrong password and an account without one. */
export function wrongPassword(): Refusal {
  return new Refusal("wrong_password", 401, "Email address or password is wrong.");
}

/** A signed-in user gave a wrong password where it is asked for again. */
export function wrongCurrentPassword(): Refusal {
  return new Refusal("wrong_current_password", 403, "That is not your password.");
}

export function adminsOnly(): Refusal {
  return new Refusal("admins_only", 403, "This is for administrators.");
}

/** A change that another site's page asked for in the visitor's name. */
export function foreignOrigin(): Refusal {
  return new Refusal("foreign_origin", 403, "The request did not come from this site.");
}

/** Counted by client address: the attempts of other addresses do not count. */
export function tooManyAttempts(closesInMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(closesInMs / 1_000));
  const message = `Too many attempts. Try again in ${String(seconds)} seconds.`;
  return new Refusal("too_many_attempts", 429, message, { retryAfterSeconds: seconds });
}

export function signUpClosed(): Refusal {
  const message = "Accounts are made by the operator of this service.";
  return new Refusal("sign_up_closed", 403, message);
}

export function setUpOpen(): Refusal {
  const message =
    "This service is being set up. Accounts can be made once it has its first administrator.";
  return new Refusal("set_up_open", 403, message);
}

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

export function nulInText(): Refusal {
  return new Refusal("nul_in_text", 400, "Text must not contain the character NUL.");
}

/** `message`: what is wrong with it and what would be right. */
export function badField(message: string): Refusal {
  return new Refusal("bad_field", 400, message);
}

/** Something that stands in the way as things are now: a limit, an order of steps. */
export function notNow(message: string): Refusal {
  return new Refusal("not_now", 409, message);
}

export function adminTierKept(): Refusal {
  const message = "An administrator has the plan pro. Take the administrator rights away first.";
  return new Refusal("admin_tier", 409, message);
}

// Decisions and policies.

export function noSuchPolicy(): Refusal {
  return new Refusal("no_such_policy", 404, "No such policy.");
}

/** `rule` says what the value must be. */
export function badParameter(name: string, rule: string): Refusal {
  return new Refusal("bad_parameter", 400, `Parameter ${name} must be ${rule}.`);
}

/** A publishable key works for /api/decide alone. */
export function publishableKeyElsewhere(): Refusal {
  const message = "A publishable key works for /api/decide only.";
  return new Refusal("publishable_key", 403, message);
}

/** `Origin` is missing or is not one of the publishable key's. */
export function originNotAllowed(): Refusal {
  const message = "This publishable key is not allowed from this origin.";
  return new Refusal("origin_not_allowed", 403, message);
}

/** A publishable key asks with its own policy. */
export function policyNotAllowed(): Refusal {
  return new Refusal("policy_not_allowed", 403, "This publishable key has another policy.");
}

/** Each mistake starts with its path. */
export function badPolicy(mistakes: readonly string[]): Refusal {
  return new Refusal("bad_policy", 400, mistakes.join("; "));
}

// Explanations.

export function apiKeyRequired(): Refusal {
  return new Refusal("api_key_required", 401, "API key required.");
}
