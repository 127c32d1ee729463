import { isoTime } from "../../../core/calendar.ts";
import {
  type Deliveries,
  type LoggedDelivery,
  WEBHOOK_EVENTS,
} from "../../../webhooks/webhook-store.ts";
import type { Audit } from "../../../accounts/audit.ts";
import { auditedWebhooks } from "../../../gate/audited.ts";
import type { WebhookSetup } from "../../../webhooks/configure.ts";
import { deliveryRow } from "../../../webhooks/outcome-words.ts";
import type { Ping } from "../../../webhooks/ping.ts";
import { Type } from "../../../core/json-schema.ts";
import { textField, textsField } from "../fields.ts";
import { noteOf } from "../note.ts";
import { type AccountRoute, answering, done } from "../route.ts";
import { DeliveryLog, Delivery, NewSecret, SavedWebhook, WebhookState } from "../shapes.ts";

export interface WebhookDeps {
  readonly setup: WebhookSetup;
  readonly ping: Ping;
  readonly deliveries: Pick<Deliveries, "list">;
  readonly audit: Audit;
}

const DELIVERIES_MAX = 100;
const URL_MAX = 2_100;

/** The account's webhook: address, events, secret, test and log. */
export function webhookRoutes(deps: WebhookDeps): readonly AccountRoute[] {
  return [...readingRoutes(deps), saveRoute(deps), secretRoute(deps), removeRoute(deps)];
}

/** As the log shows it; a delivery that waits has the time it was queued. */
function shownDelivery(delivery: LoggedDelivery): Delivery {
  const row = deliveryRow(delivery);
  return {
    id: delivery.id,
    ...row,
    attempted_at: row.attempted_at ?? isoTime(delivery.queuedAtMs),
    response: delivery.snippet ?? null,
  };
}

const readingRoutes = ({ setup, ping, deliveries }: WebhookDeps): readonly AccountRoute[] => [
  answering(WebhookState, {
    method: "GET",
    path: "webhook",
    for: "account",
    summary: "The webhook and the events there are",
    handle: async ({ account }) => ({
      known_events: WEBHOOK_EVENTS,
      webhook: (await setup.show(account.id)) ?? null,
    }),
  }),
  answering(DeliveryLog, {
    method: "GET",
    path: "webhook/deliveries",
    for: "account",
    summary: "What was sent in the last 7 days, newest first",
    async handle({ account }) {
      const rows = await deliveries.list(account.id, DELIVERIES_MAX);
      return { deliveries: rows.map(shownDelivery) };
    },
  }),
  answering(Delivery, {
    method: "POST",
    path: "webhook/ping",
    for: "account",
    summary: "Send test.ping and wait for what comes of it",
    handle: async ({ account }) => shownDelivery(await ping(account.id)),
  }),
  answering(Delivery, {
    method: "POST",
    path: "webhook/deliveries/:id/resend",
    for: "account",
    summary: "Send a message once more, whose attempt is over, and wait for what comes of it",
    handle: async ({ account, id }) => shownDelivery(await ping(account.id, id)),
  }),
];

const saveRoute = ({ setup, audit }: WebhookDeps): AccountRoute =>
  answering(SavedWebhook, {
    method: "POST",
    path: "webhook",
    for: "account",
    summary:
      "Save address and events; a new address gets a new secret, which is in this answer only",
    body: Type.Object({ url: Type.String(), events: Type.Array(Type.String()) }),
    async handle(request) {
      const { account, body } = request;
      const url = textField(body, "url", URL_MAX);
      const events = textsField(body, "events", 20);
      const noted = auditedWebhooks(setup, noteOf(request, audit));
      const known = await setup.show(account.id);
      if (known?.url === url) {
        await noted.selectEvents(account.id, events);
        return { secret: null };
      }
      const { secret } = await noted.set(account.id, url, events);
      return { secret };
    },
  });

const secretRoute = ({ setup, audit }: WebhookDeps): AccountRoute =>
  answering(NewSecret, {
    method: "POST",
    path: "webhook/secret",
    for: "account",
    summary: "Make a new signing secret; it is in this answer only",
    async handle(request) {
      const noted = auditedWebhooks(setup, noteOf(request, audit));
      const { secret } = await noted.renewSecret(request.account.id);
      return { secret };
    },
  });

const removeRoute = ({ setup, audit }: WebhookDeps): AccountRoute => ({
  method: "DELETE",
  path: "webhook",
  for: "account",
  summary: "Remove the webhook; deliveries that wait are dropped",
  async handle(request) {
    await auditedWebhooks(setup, noteOf(request, audit)).remove(request.account.id);
    return done;
  },
});
