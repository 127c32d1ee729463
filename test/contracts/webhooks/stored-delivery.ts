import type {
  Deliveries,
  Delivery,
  WebhookEndpoints,
} from "../../../src/webhooks/webhooks-store.ts";

export interface WebhookStores {
  readonly endpoints: WebhookEndpoints;
  readonly deliveries: Deliveries;
  /** Makes sure that the account exists. */
  readonly account: (id: string) => Promise<unknown>;
}

export const LIMITS = { perAccount: 3, inAll: 6, beyondFirst: 2 };
export const NO_OUTCOME = { duration_ms: null, status: null, error: null, snippet: null };
export const CAPS = { waiting: 50 };

export const delivery = (id: string, account_id = "a", more: Partial<Delivery> = {}): Delivery => ({
  id,
  account_id,
  event: "bulk.completed",
  session: "0".repeat(32),
  data: '{"a":1}',
  queued_at_ms: 1_000,
  ...more,
});

export const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

/** Has a rule tested with stores of its own. */
export type Check = (rule: string, run: (stores: WebhookStores) => Promise<void>) => void;
