import { isoTime } from "../core/calendar.ts";
import type { LoggedDelivery, WebhookEvent } from "./webhook-store.ts";
import { errorOf } from "./outcome-words.ts";

/** One delivery as `gatepost webhook log --json` shows it. */
export interface DeliveryRow {
  readonly event: WebhookEvent;
  readonly session: string | null;
  /** HTTP status; null when no answer began. */
  readonly status: number | null;
  /** In plain words; null when the receiver accepted, or nothing is known yet. */
  readonly error: string | null;
  readonly duration_ms: number | null;
  /** ISO 8601, UTC; null when it was never attempted. */
  readonly attempted_at: string | null;
}

export function deliveryRow(delivery: LoggedDelivery): DeliveryRow {
  const { event, session, status, durationMs, attemptedAtMs } = delivery;
  return {
    event,
    session: session ?? null,
    status: status ?? null,
    error: errorOf(delivery) ?? null,
    duration_ms: durationMs ?? null,
    attempted_at: attemptedAtMs === undefined ? null : isoTime(attemptedAtMs),
  };
}
