import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Deliveries, WebhookEndpoint, WebhookEndpoints } from "./webhooks-store.ts";
import type { OnCompleted } from "../bulk/announce.ts";
import type { BulkStats } from "../bulk/bulk.ts";

/** Queued deliveries of one account; its receiver hangs or is far too slow when there are more. */
export const WAITING_MAX = 500;

export interface AnnounceDeps {
  readonly endpoints: Pick<WebhookEndpoints, "find">;
  readonly deliveries: Pick<Deliveries, "enqueue">;
  readonly ids: Pick<Ids, "hex32">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
  readonly wake: () => void;
}

/** Queues bulk.completed where the account wants it. Never rejects: the batch is done whether or not it can be queued. */
export function createAnnounceBulk(deps: AnnounceDeps): OnCompleted {
  return async ({ owner, stats }) => {
    if (owner.kind !== "account") return;
    const { accountId } = owner;
    try {
      const endpoint = await deps.endpoints.find(accountId);
      if (endpoint === undefined || !wants(endpoint)) return;
      await enqueue(accountId, stats, deps);
      deps.wake();
    } catch (fault) {
      deps.log.error("webhooks.announce_failed", fault, { accountId });
    }
  };
}

const wants = ({ events }: WebhookEndpoint): boolean =>
  events.length === 0 || events.includes("bulk.completed");

async function enqueue(accountId: string, stats: BulkStats, deps: AnnounceDeps): Promise<void> {
  const { session, total, unique, invalid_format, invalid_dns, disposable, valid } = stats;
  // Named one by one: what a caller's object holds besides them is not for the receiver.
  const summary = { total, unique, invalid_format, invalid_dns, disposable, valid, session };
  const delivery = {
    id: deps.ids.hex32(),
    accountId,
    event: "bulk.completed",
    session,
    data: JSON.stringify({ session, stats: summary }),
    queuedAtMs: deps.clock.nowMs(),
  } as const;
  await deps.deliveries.enqueue(delivery, { waiting: WAITING_MAX });
}
