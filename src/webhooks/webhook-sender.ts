import { failure } from "../outbound/dial.ts";
import { type OutboundDeps, createOutbound } from "../outbound/outbound.ts";
import type {
  HttpReply,
  OutboundFailure,
  OutboundFault,
  OutboundResult,
} from "../outbound/outbound-types.ts";
import { isoTime } from "../core/calendar.ts";
import type { WebhookDeliveryRow } from "../store/schema.ts";
import type { DeliveryOutcome, DeliveryState, WebhookEvent } from "./webhooks-store.ts";

export interface WebhookPost {
  readonly url: string;
  readonly event: WebhookEvent;
  readonly body: Uint8Array;
  readonly signature: string;
}

/** Sends one POST to a public https address and reports what came of it; never rejects for what a peer did. */
export interface WebhookSender {
  /** At most 10 s in all. Redirects are answers. The reply's body is its first 1 KiB. */
  post(post: WebhookPost): Promise<OutboundResult<HttpReply>>;
}

const TOTAL_MS = 10_000;
const BODY_MAX_BYTES = 65_536;
const KEPT_BYTES = 1_024;

/** Makes its own dialler, so that nothing the operator allows to others is ever allowed to a webhook. */
export function createWebhookSender(
  deps: Omit<OutboundDeps, "allowed" | "proxies">,
): WebhookSender {
  const outbound = createOutbound({ ...deps, allowed: undefined });
  return {
    async post({ url, event, body, signature }) {
      // Settings are checked when they are saved; this holds for rows that came any other way.
      if (!url.startsWith("https://")) return failure("bad_url");
      const result = await outbound.http({
        url,
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-Service-Event": event,
          "X-Service-Signature": signature,
          "User-Agent": "Service-Webhook/1.0",
        },
        body,
        timeoutMs: TOTAL_MS,
        maxBodyBytes: BODY_MAX_BYTES,
        maxRedirects: 0,
      });
      if (!result.ok) return result;
      return { ok: true, value: { ...result.value, body: result.value.body.slice(0, KEPT_BYTES) } };
    },
  };
}

/**
 * One delivery as `gatepost webhook log --json` shows it. `error` is null when the receiver accepted, or nothing is
 * known yet.
 */
export function deliveryRow(row: WebhookDeliveryRow) {
  const { event, session, state, status, duration_ms, attempted_at_ms: attemptedMs } = row;
  const error = STATE_WORDS[state] ?? row.error;
  const attempted_at = attemptedMs === null ? null : isoTime(attemptedMs);
  return { event, session, status, error, duration_ms, attempted_at };
}

export type DeliveryRow = ReturnType<typeof deliveryRow>;

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

export function deliveryOutcome(result: OutboundResult<HttpReply>): DeliveryOutcome {
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
