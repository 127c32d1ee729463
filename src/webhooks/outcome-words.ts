import type {
  HttpReply,
  OutboundFailure,
  OutboundFault,
  OutboundResult,
} from "../outbound/outbound-types.ts";
import { isoTime } from "../core/calendar.ts";
import type { WebhookDeliveryRow } from "../store/schema.ts";
import type { DeliveryOutcome, DeliveryState } from "./webhooks-store.ts";

/**
 * One delivery as `gatepost webhook log --json` shows it. `error` is null when the receiver accepted, or nothing is
 * known yet.
 */
export interface DeliveryRow extends Pick<
  WebhookDeliveryRow,
  "event" | "session" | "status" | "error" | "duration_ms"
> {
  readonly attempted_at: string | null;
}

export function deliveryRow(row: WebhookDeliveryRow): DeliveryRow {
  const { event, session, state, status, duration_ms, attempted_at_ms: attemptedMs } = row;
  const error = STATE_WORDS[state] ?? row.error;
  const attempted_at = attemptedMs === null ? null : isoTime(attemptedMs);
  return { event, session, status, error, duration_ms, attempted_at };
}

const FAULT_WORDS: Readonly<Record<OutboundFault, string>> = {
  bad_url: "The URL is not https.",
  unresolved: "The host could not be looked up in DNS.",
  no_address: "The host has no address in DNS.",
  not_public: "The host leads to an address that is not on the public internet.",
  unreachable: "No connection could be made.",
  tls: "The TLS handshake failed or the certificate is not valid.",
  timeout: "There was no complete answer within 10 seconds.",
  broken: "The connection ended before the answer was complete.",
  malformed: "The answer is not HTTP.",
  redirect: "The receiver redirected, and redirects are not followed.",
};

const STATE_WORDS: Readonly<Partial<Record<DeliveryState, string>>> = {
  removed: "Removed: the webhook was removed before the delivery was sent.",
  interrupted: "Interrupted: the service stopped during the delivery; it is not sent again.",
  dropped: "Dropped: too many deliveries were already waiting for this receiver.",
};

export function outcomeOf(result: OutboundResult<HttpReply>): DeliveryOutcome {
  if (!result.ok) return { status: result.status ?? null, error: failureWords(result) };
  const { status, body } = result.value;
  const snippet = printable(new TextDecoder().decode(body));
  const error = statusWords(status);
  return { status, snippet, ...(error !== undefined && { error }) };
}

function failureWords({ fault, detail }: OutboundFailure): string {
  // The detail is an address then: what a name of theirs leads to inside is not for outsiders.
  const isInternal = fault === "not_public";
  return detail === undefined || isInternal
    ? FAULT_WORDS[fault]
    : `${FAULT_WORDS[fault]} (${detail})`;
}

function statusWords(status: number): string | undefined {
  if (status >= 200 && status <= 299) return undefined;
  if (status >= 300 && status <= 399) {
    return `The receiver redirected (${String(status)}), and redirects are not followed.`;
  }
  return `The receiver answered ${String(status)}.`;
}

/** No control characters but line feeds and tabs: no store, terminal or page has to fear it. */
const printable = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, "\ufffd");
