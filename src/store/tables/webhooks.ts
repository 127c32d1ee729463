/** Tables of webhooks: endpoints of accounts, and their deliveries. */
export interface WebhookTables {
  webhook_endpoints: WebhookEndpointRow;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_claims: WebhookClaimsRow;
}

export interface WebhookEndpointRow {
  account_id: string;
  url: string;
  /** Between commas; "" is all. */
  events: string;
  sealed_secret: string;
}

/** The queue of deliveries and their log. */
export interface WebhookDeliveryRow {
  id: string;
  account_id: string;
  event: "bulk.completed" | "test.ping";
  session: string | null;
  /** JSON text. */
  data: string;
  state: "queued" | "sending" | "done" | "removed" | "interrupted" | "dropped";
  queued_at_ms: number;
  attempted_at_ms: number | null;
  duration_ms: number | null;
  status: number | null;
  error: string | null;
  snippet: string | null;
}

/** One row, with id 1: a claim updates it first, so that processes claim one after the other. */
export interface WebhookClaimsRow {
  id: number;
  claims: number;
}
