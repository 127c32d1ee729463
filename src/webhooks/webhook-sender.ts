import { failure } from "../outbound/dial.ts";
import { type OutboundDeps, createOutbound } from "../outbound/outbound.ts";
import type { HttpReply, OutboundResult } from "../outbound/outbound-types.ts";
import type { WebhookEvent } from "./webhooks-store.ts";

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
