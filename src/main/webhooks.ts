import { createSecretBox } from "../base/secrets.ts";
import type { OnCompleted } from "../bulk/announce.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import { createHostCheck } from "../outbound/public-host.ts";
import type { SqlDatabase } from "../store/database.ts";
import type { Notices } from "../store/notices.ts";
import { createAnnounceBulk } from "../webhooks/announce.ts";
import { createWebhookSetup, type WebhookSetup } from "../webhooks/configure.ts";
import { createDispatcher, type Dispatcher } from "../webhooks/dispatcher.ts";
import { createPing, type Ping } from "../webhooks/ping.ts";
import { Deliveries, WebhookEndpoints } from "../webhooks/webhooks-store.ts";
import type { WebhookOutcome } from "./metrics.ts";
import type { Process } from "./process.ts";

/** Everything about webhooks, used by the server and by commands. */
export interface Webhooks {
  readonly setup: WebhookSetup;
  readonly deliveries: Deliveries;
  readonly announce: OnCompleted;
  readonly ping: Ping;
  /** Started where webhooks are sent: by the one serving process, or by workers. */
  readonly dispatcher: Dispatcher;
}

interface WebhookParts {
  readonly sql: SqlDatabase;
  readonly secretKey: Uint8Array;
  readonly addresses: Lookup["addresses"];
  /** `elsewhere`: another process sends what is announced here; a notice tells it, or it looks a second later. */
  readonly sent: "here" | "elsewhere";
  readonly notices?: Pick<Notices, "tell">;
  readonly counted?: (outcome: WebhookOutcome) => void;
}

export function openWebhooks(process: Process, parts: WebhookParts): Webhooks {
  const { machine, clock, ids, log, closing } = process;
  const { sql, secretKey, addresses, sent, notices, counted } = parts;
  const [endpoints, deliveries] = [new WebhookEndpoints(sql.db), new Deliveries(sql.db)];
  const box = createSecretBox(secretKey);
  const sender = machine.openWebhookSender({ addresses, clock });
  const dispatcher = createDispatcher({ endpoints, deliveries, box, sender, clock, log, counted });
  closing.add(() => dispatcher.stop());
  const checkHost = createHostCheck({ addresses, clock });
  const wake = (): void => {
    if (sent === "here") dispatcher.wake();
    else notices?.tell("webhooks");
  };
  return {
    setup: createWebhookSetup({ endpoints, box, ids, checkHost }),
    deliveries,
    announce: createAnnounceBulk({ endpoints, deliveries, ids, clock, log, wake }),
    ping: createPing({ endpoints, deliveries, dispatcher, ids, clock }),
    dispatcher,
  };
}
