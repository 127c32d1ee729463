import { createSecretBox } from "../base/secrets.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import { createPublicHostCheck } from "../outbound/dial.ts";
import type { SqlDatabase } from "../store/database.ts";
import type { Notices } from "../store/notices.ts";
import { WebhookSetup } from "../webhooks/configure.ts";
import { Dispatcher } from "../webhooks/dispatcher.ts";
import { Deliveries, WebhookEndpoints } from "../webhooks/webhooks-store.ts";
import type { Process } from "./process.ts";

interface WebhookParts {
  readonly sql: SqlDatabase;
  readonly secretKey: Uint8Array;
  readonly addresses: Lookup["addresses"];
  /** Where another process sends what is announced here: a notice tells it, or it looks a second later. */
  readonly elsewhere?: Pick<Notices, "tell"> | undefined;
  readonly counted?: (outcome: string) => void;
}

export function openWebhooks(process: Process, parts: WebhookParts) {
  const { machine, clock, ids, log, closing } = process;
  const { sql, secretKey, addresses, elsewhere, counted } = parts;
  const [endpoints, deliveries] = [new WebhookEndpoints(sql.db), new Deliveries(sql.db)];
  const box = createSecretBox(secretKey);
  const sender = machine.openWebhookSender({ addresses, clock });
  const wakeOther = elsewhere && ((): void => elsewhere.tell("webhooks"));
  const deps = { endpoints, deliveries, box, sender, clock, ids, log, counted, wakeOther };
  const dispatcher = new Dispatcher(deps);
  closing.add(() => dispatcher.stop());
  const checkHost = createPublicHostCheck({ addresses, clock });
  return { setup: new WebhookSetup({ endpoints, box, ids, checkHost }), deliveries, dispatcher };
}

export type Webhooks = ReturnType<typeof openWebhooks>;
