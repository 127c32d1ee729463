import { sqlDeliveries } from "../../src/adapters/sql/webhooks/webhook-deliveries.ts";
import { sqlWebhookEndpoints } from "../../src/adapters/sql/webhooks/webhooks.ts";
import { systemIds as ids } from "../../src/adapters/system/ids.ts";
import { createSecretBox } from "../../src/adapters/system/secrets.ts";
import type { AccountStore } from "../../src/main/parts/backing/store.ts";
import type { HostCheck } from "../../src/ports/webhooks/public-host.ts";
import { createAnnounceBulk } from "../../src/service/webhooks/announce.ts";
import { createWebhookSetup } from "../../src/service/webhooks/configure.ts";
import { createDispatcher } from "../../src/service/webhooks/dispatcher.ts";
import { createPing } from "../../src/service/webhooks/ping.ts";
import type { KeptLog } from "../process/kept-log.ts";
import { realClock as clock } from "../time/real-clock.ts";
import { MASTER, recordingSender } from "../process/webhook-world.ts";

/** The services of webhooks on the store of a dashboard; deliveries go to a recording receiver. */
export function webhooksOf(store: AccountStore, checkHost: HostCheck, log: KeptLog) {
  const { db } = store.sql;
  const receiver = recordingSender();
  const endpoints = sqlWebhookEndpoints(db);
  const deliveries = sqlDeliveries(db);
  const box = createSecretBox(MASTER);
  const deps = { endpoints, deliveries, box, sender: receiver.sender, clock, log, ids, checkHost };
  const dispatcher = createDispatcher(deps);
  return {
    receiver,
    deliveries,
    setup: createWebhookSetup(deps),
    ping: createPing({ ...deps, dispatcher }),
    announce: createAnnounceBulk({ ...deps, wake: () => dispatcher.wake() }),
    async stop() {
      receiver.release();
      await dispatcher.stop();
    },
  };
}
