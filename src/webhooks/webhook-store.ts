export const WEBHOOK_EVENTS = ["test.ping", "bulk.completed"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

export interface WebhookEndpoint {
  readonly accountId: string;
  /** Absolute, https, as `webhooks/configure.ts` writes it. */
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** By `SecretBox`, about the account's id. */
  readonly sealedSecret: string;
}

/** One endpoint an account. Rules: `test/contracts/webhooks/webhook-store.ts`. */
export interface WebhookEndpoints {
  find(accountId: string): Promise<WebhookEndpoint | undefined>;
  save(endpoint: WebhookEndpoint): Promise<void>;
  /** False when the account has no endpoint, here and below. */
  setEvents(accountId: string, events: readonly WebhookEvent[]): Promise<boolean>;
  setSecret(accountId: string, sealedSecret: string): Promise<boolean>;
  /** Removes the endpoint and ends the deliveries still queued as `removed`, in one step. */
  remove(accountId: string): Promise<boolean>;
}

/**
 * `sending` begins with the claim and ends with the outcome in `done`, or in `interrupted` when the process
 * died. `removed`: the endpoint was gone before the attempt. `dropped`: too many were waiting already.
 */
export type DeliveryState = "queued" | "sending" | "done" | "removed" | "interrupted" | "dropped";

export interface Delivery {
  readonly id: string;
  readonly accountId: string;
  readonly event: WebhookEvent;
  readonly session?: string;
  readonly data: string;
  readonly queuedAtMs: number;
}

export interface DeliveryOutcome {
  readonly status?: number;
  /** In plain words; absent when the receiver accepted. */
  readonly error?: string;
  readonly durationMs: number;
  readonly snippet?: string;
}

export interface LoggedDelivery extends Partial<DeliveryOutcome> {
  readonly id: string;
  readonly event: WebhookEvent;
  readonly session?: string;
  readonly state: DeliveryState;
  readonly queuedAtMs: number;
  readonly attemptedAtMs?: number;
}

export interface DeliveryLimits {
  readonly perAccount: number;
  readonly inAll: number;
  /** Of `inAll`, how many places may be an account's second or a further one. */
  readonly beyondFirst: number;
}

export interface EnqueueCaps {
  /** Queued deliveries of one account; one more is logged as `dropped`. */
  readonly waiting: number;
  /** Deliveries of the same account and event since then; one more is not even logged. */
  readonly recent?: { readonly sinceMs: number; readonly most: number };
}

/** The queue of deliveries and their log are one table: a row is written before the POST, completed after it. */
export interface Deliveries {
  enqueue(delivery: Delivery, caps: EnqueueCaps): Promise<"queued" | "dropped" | "too_many">;
  /** Each once across all callers: accounts with the fewest open first, then the oldest. With `onlyId` that one alone. */
  claim(nowMs: number, limits: DeliveryLimits, onlyId?: string): Promise<readonly Delivery[]>;
  complete(id: string, state: "done" | "removed", outcome: DeliveryOutcome): Promise<void>;
  find(id: string): Promise<LoggedDelivery | undefined>;
  /** What was to be sent; undefined unless it is the account's and its attempt is over. */
  sent(accountId: string, id: string): Promise<Delivery | undefined>;
  list(accountId: string, limit: number): Promise<readonly LoggedDelivery[]>;
  /** Ends as `interrupted` what has been `sending` since before then; returns how many. */
  interrupt(startedBeforeMs: number): Promise<number>;
  prune(queuedBeforeMs: number): Promise<number>;
}
