import type { HttpReply, OutboundResult } from "../outbound/outbound-types.ts";
import type { WebhookEvent } from "./webhook-store.ts";

export interface WebhookPost {
  readonly url: string;
  readonly event: WebhookEvent;
  /** The exact octets that were signed. */
  readonly body: Uint8Array;
  /** 64 lower-case hexadecimal digits. */
  readonly signature: string;
}

/** Sends one POST to a public https address and reports what came of it; never rejects for what a peer did. */
export interface WebhookSender {
  /** At most 10 s in all. Redirects are answers. The reply's body is its first 1 KiB. */
  post(post: WebhookPost): Promise<OutboundResult<HttpReply>>;
}
