import { StacklessError } from "./stackless-error.ts";

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
