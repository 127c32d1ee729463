import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { SecretBox } from "../base/secret-box.ts";
import { RESOURCES } from "../base/resources.ts";
import type { WebhookSender } from "./webhook-sender-types.ts";
import type {
  Deliveries,
  Delivery,
  DeliveryLimits,
  DeliveryOutcome,
  WebhookEndpoints,
} from "./webhook-store.ts";
import { envelope } from "./envelope.ts";
import { outcomeOf } from "./outcome-words.ts";
import { sign } from "./sign.ts";

/**
 * Fifty receivers that hang have one place each and share eight more: six stay free for other accounts, whose first
 * delivery never needs one of the eight.
 */
export const DELIVERY_LIMITS: DeliveryLimits = {
  perAccount: RESOURCES.webhooks.perOwner,
  inAll: RESOURCES.webhooks.total,
  beyondFirst: 8,
};

export interface DeliverDeps {
  readonly endpoints: Pick<WebhookEndpoints, "find">;
  readonly deliveries: Deliveries;
  readonly box: Pick<SecretBox, "open">;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the one attempt at a claimed delivery and completes its row. Rejects for faults of the store only. */
export async function deliver(delivery: Delivery, deps: DeliverDeps): Promise<void> {
  const { endpoints, deliveries, clock } = deps;
  // Read now, not when it was queued: a new URL or secret counts at once.
  const endpoint = await endpoints.find(delivery.accountId);
  if (endpoint === undefined) {
    await deliveries.complete(delivery.id, "removed", { durationMs: 0 });
    return;
  }
  const startedMs = clock.monotonicMs();
  const attempted = await attempt(delivery, endpoint, deps);
  const durationMs = Math.round(clock.monotonicMs() - startedMs);
  await deliveries.complete(delivery.id, "done", { ...attempted, durationMs });
}

async function attempt(
  { accountId, event, data }: Delivery,
  { url, sealedSecret }: { readonly url: string; readonly sealedSecret: string },
  { box, sender, clock }: DeliverDeps,
): Promise<DeliveryOutcome> {
  const secret = box.open(sealedSecret, accountId);
  if (secret === undefined) return { durationMs: 0, error: SECRET_LOST };
  const body = envelope(event, data, clock.nowMs());
  const result = await sender.post({ url, event, body, signature: sign(secret, body) });
  return outcomeOf(result, 0);
}

const SECRET_LOST =
  "The signing secret cannot be read, because the service's key was changed. Make a new secret.";
