import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Deliveries, LoggedDelivery, WebhookEndpoints } from "./webhooks-store.ts";
import { notFound, noWebhook, tooManyPings } from "../base/refusals.ts";
import { WAITING_MAX } from "./announce.ts";
import type { Dispatcher } from "./dispatcher.ts";

const PINGS_A_MINUTE = 10;
const MINUTE_MS = 60_000;

/** Longer than a delivery, because it may wait for one of the account's places. */
const WAIT_MS = 25_000;

const DATA = JSON.stringify({ message: "Webhook endpoint verified." });

export interface PingDeps {
  readonly endpoints: Pick<WebhookEndpoints, "find">;
  readonly deliveries: Deliveries;
  readonly dispatcher: Pick<Dispatcher, "deliverNow">;
  readonly ids: Pick<Ids, "hex32">;
  readonly clock: Pick<Clock, "nowMs">;
}

/** Sends test.ping, or once more a message whose attempt is over; the log row. Throws a `Refusal`. */
export type Ping = (accountId: string, again?: string) => Promise<LoggedDelivery>;

export function createPing({ endpoints, deliveries, dispatcher, ids, clock }: PingDeps): Ping {
  return async (accountId, again) => {
    if ((await endpoints.find(accountId)) === undefined) throw noWebhook();
    const [id, queuedAtMs] = [ids.hex32(), clock.nowMs()];
    const recent = { sinceMs: queuedAtMs - MINUTE_MS, most: PINGS_A_MINUTE };
    const message =
      again === undefined
        ? { accountId, event: "test.ping" as const, data: DATA }
        : await deliveries.sent(accountId, again);
    if (message === undefined) throw notFound();
    const queued = await deliveries.enqueue(
      { ...message, id, queuedAtMs },
      { waiting: WAITING_MAX, recent },
    );
    if (queued === "too_many") throw tooManyPings(PINGS_A_MINUTE);
    await dispatcher.deliverNow(id, WAIT_MS);
    const row = await deliveries.find(id);
    if (row === undefined) throw new Error(`ping ${id}: its log row is gone`);
    return row;
  };
}
