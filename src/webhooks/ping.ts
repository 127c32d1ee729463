import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Deliveries, LoggedDelivery, WebhookEndpoints } from "./webhook-store.ts";
import { noWebhook, tooManyPings } from "../base/refusals.ts";
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

/**
 * Sends test.ping, independent of the selected events, and returns its log row, which is still queued only when
 * the account's other deliveries hold all places for long. Throws a `Refusal` without a webhook and for
 * the eleventh within a minute.
 */
export type Ping = (accountId: string) => Promise<LoggedDelivery>;

export function createPing({ endpoints, deliveries, dispatcher, ids, clock }: PingDeps): Ping {
  return async (accountId) => {
    if ((await endpoints.find(accountId)) === undefined) throw noWebhook();
    const [id, queuedAtMs] = [ids.hex32(), clock.nowMs()];
    const recent = { sinceMs: queuedAtMs - MINUTE_MS, most: PINGS_A_MINUTE };
    const queued = await deliveries.enqueue(
      { id, accountId, event: "test.ping", data: DATA, queuedAtMs },
      { waiting: WAITING_MAX, recent },
    );
    if (queued === "too_many") throw tooManyPings(PINGS_A_MINUTE);
    await dispatcher.deliverNow(id, WAIT_MS);
    const row = await deliveries.find(id);
    if (row === undefined) throw new Error(`ping ${id}: its log row is gone`);
    return row;
  };
}
