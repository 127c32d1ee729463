import { isoTime } from "../../core/calendar.ts";
import { deliveryRow } from "../../webhooks/outcome-words.ts";
import type { WebhookDeliveryRow } from "../../store/schema.ts";
import { WEBHOOK_EVENTS } from "../../webhooks/webhooks-store.ts";
import { account, type AccountRoute, textField, textsField } from "./route.ts";
import { DeliveryLog, DeliveryJson, NewSecret, SavedWebhook, WebhookState } from "./shapes.ts";

const DELIVERIES_MAX = 100;
const URL_MAX = 2_100;

/** As the log shows it; a delivery that waits has the time it was queued. */
function shownDelivery(delivery: WebhookDeliveryRow): DeliveryJson {
  const { id, queued_at_ms: queuedMs, snippet: response } = delivery;
  const row = deliveryRow(delivery);
  return { id, ...row, attempted_at: row.attempted_at ?? isoTime(queuedMs), response };
}

export const webhookRoutes: readonly AccountRoute[] = [
  account(
    "GET webhook",
    { answer: WebhookState },
    async ({ account: { id } }, { webhooks: { setup } }) => ({
      known_events: WEBHOOK_EVENTS,
      webhook: (await setup.show(id)) ?? null,
    }),
  ),
  account(
    "GET webhook/deliveries",
    { answer: DeliveryLog },
    async ({ account: { id } }, { webhooks: { deliveries } }) => ({
      deliveries: (await deliveries.list(id, DELIVERIES_MAX)).map(shownDelivery),
    }),
  ),
  account(
    "POST webhook/ping",
    { answer: DeliveryJson },
    async (request, { webhooks: { dispatcher } }) =>
      shownDelivery(await dispatcher.ping(request.account.id)),
  ),
  account(
    "POST webhook/deliveries/:id/resend",
    { answer: DeliveryJson },
    async (request, { webhooks: { dispatcher } }) =>
      shownDelivery(await dispatcher.ping(request.account.id, request.id)),
  ),
  account(
    "POST webhook",
    { body: { url: textField(URL_MAX), events: textsField(20) }, answer: SavedWebhook },
    async ({ account: { id }, body: { url, events }, note }, { webhooks: { setup } }) => {
      const noted = setup.by(note);
      if ((await setup.show(id))?.url !== url) {
        return { secret: (await noted.set(id, url, events)).secret };
      }
      await noted.selectEvents(id, events);
      return { secret: null };
    },
  ),
  account(
    "POST webhook/secret",
    { answer: NewSecret },
    async ({ account: { id }, note }, { webhooks: { setup } }) => ({
      secret: (await setup.by(note).renewSecret(id)).secret,
    }),
  ),
  account("DELETE webhook", {}, async ({ account: { id }, note }, { webhooks: { setup } }) => {
    await setup.by(note).remove(id);
  }),
];
