import { isoTime } from "../core/calendar.ts";
import type { WebhookEvent } from "./webhook-store.ts";

/** The octets of one notification; `data` is JSON text, `nowMs` the time of dispatch. */
export function envelope(event: WebhookEvent, data: string, nowMs: number): Uint8Array {
  const body = { event, timestamp: isoTime(nowMs), data: JSON.parse(data) as unknown };
  return new TextEncoder().encode(JSON.stringify(body));
}
