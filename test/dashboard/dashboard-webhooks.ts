import { Deliveries, WebhookEndpoints } from "../../src/webhooks/webhooks-store.ts";
import { systemIds as ids } from "../../src/base/ids.ts";
import { createSecretBox } from "../../src/base/secrets.ts";
import type { AccountStore } from "../../src/main/store.ts";
import type { PublicHostCheck } from "../../src/outbound/dial.ts";
import { WebhookSetup } from "../../src/webhooks/configure.ts";
import { Dispatcher } from "../../src/webhooks/dispatcher.ts";
import type { KeptLog } from "../process/kept-log.ts";
import { realClock as clock } from "../time/real-clock.ts";
import { MASTER, recordingSender } from "../process/webhook-world.ts";

/** The services of webhooks on the store of a dashboard; deliveries go to a recording receiver. */
export function webhooksOf(store: AccountStore, checkHost: PublicHostCheck, log: KeptLog) {
  const { db } = store.sql;
  const receiver = recordingSender();
  const endpoints = new WebhookEndpoints(db);
  const deliveries = new Deliveries(db);
  const box = createSecretBox(MASTER);
  const deps = { endpoints, deliveries, box, sender: receiver.sender, clock, log, ids, checkHost };
  const dispatcher = new Dispatcher(deps);
  return {
    receiver,
    deliveries,
    setup: new WebhookSetup(deps),
    dispatcher,
    async stop() {
      receiver.release();
      await dispatcher.stop();
    },
  };
}
