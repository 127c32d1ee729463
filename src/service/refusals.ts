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
