import { createJudgeHost } from "../adapters/outbound/public-host.ts";
import { createWebhookSender } from "../adapters/outbound/webhook-sender.ts";
import type { SqlDatabase } from "../adapters/sql/database.ts";
import { sqlDeliveries } from "../adapters/sql/webhook-deliveries.ts";
import { sqlWebhookEndpoints } from "../adapters/sql/webhooks.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { systemIds as ids } from "../adapters/system/ids.ts";
import { createSecretBox } from "../adapters/system/secrets.ts";
import type { Lookup } from "../core/lookup.ts";
import type { Log } from "../ports/log.ts";
import type { Deliveries } from "../ports/webhook-store.ts";
import { type AnnounceBulk, createAnnounceBulk } from "../service/webhooks/announce.ts";
import { createWebhookSetup, type WebhookSetup } from "../service/webhooks/configure.ts";
import { createDispatcher, type Dispatcher } from "../service/webhooks/dispatcher.ts";
import { createPing, type Ping } from "../service/webhooks/ping.ts";

/** Everything about webhooks, for the server and for the commands beside it. */
export interface Webhooks {
  readonly setup: WebhookSetup;
  readonly deliveries: Deliveries;
  readonly announce: AnnounceBulk;
  readonly ping: Ping;
  /** Only the serving process starts it. */
  readonly dispatcher: Dispatcher;
}

export interface WebhookParts {
  readonly sql: SqlDatabase;
  /** 32 bytes, kept outside the database. */
  readonly secretKey: Uint8Array;
  /** The project's own DNS. */
  readonly addresses: Lookup["addresses"];
  readonly log: Log;
}

export function openWebhooks({ sql, secretKey, addresses, log }: WebhookParts): Webhooks {
  const endpoints = sqlWebhookEndpoints(sql.db);
  const deliveries = sqlDeliveries(sql.db);
  const box = createSecretBox(secretKey);
  const sender = createWebhookSender({ addresses, clock });
  const dispatcher = createDispatcher({ endpoints, deliveries, box, sender, clock, log });
  const judgeHost = createJudgeHost({ addresses, clock });
  const wake = (): void => dispatcher.wake();
  return {
    setup: createWebhookSetup({ endpoints, box, ids, judgeHost }),
    deliveries,
    announce: createAnnounceBulk({ endpoints, deliveries, ids, clock, log, wake }),
    ping: createPing({ endpoints, deliveries, dispatcher, ids, clock }),
    dispatcher,
  };
}
