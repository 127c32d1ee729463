import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { createServer as createTls } from "node:tls";
import { Deliveries, WebhookEndpoints } from "../../src/webhooks/webhooks-store.ts";
import { createSecretBox } from "../../src/base/secrets.ts";
import { openSecretKey } from "../../src/main/store.ts";
import { RESOURCES } from "../../src/base/resources.ts";
import { receiverCertificate, receiverKey, testAuthority } from "../process/certificates.ts";
import { PUBLIC_V4 } from "../process/public-namespace.ts";
import type { Outside, Prepared } from "./outside.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const TLS = { key: receiverKey, cert: receiverCertificate };
const HANGING_PORT = 8_443;
const GOOD_PORT = 8_444;
const TOLD_WITHIN_MS = 60_000;

/** The free accounts have receivers that never answer and a full queue for them. */
async function prepare({ directory, store, victimId, freeIds }: Prepared): Promise<void> {
  const { db } = store.sql;
  const secretKey = await openSecretKey({ dataDir: directory, secretKey: undefined }, { db });
  const box = createSecretBox(secretKey);
  const endpoints = new WebhookEndpoints(db);
  const deliveries = new Deliveries(db);
  for (const [accountId, port] of [
    [victimId, GOOD_PORT] as const,
    ...freeIds.map((id) => [id, HANGING_PORT] as const),
  ]) {
    const url = `https://${PUBLIC_V4}:${String(port)}/`;
    const sealedSecret = box.seal("topsecret", accountId);
    await endpoints.save({ accountId, url, events: ["bulk.completed"], sealedSecret });
  }
  const waiting = RESOURCES.webhooks.queuePerOwner;
  for (const accountId of freeIds) {
    for (let at = 0; at < waiting; at += 1) {
      const id = `${accountId}-${String(at)}`;
      const row = {
        id,
        account_id: accountId,
        session: null,
        data: "{}",
        queued_at_ms: Date.now(),
      };
      await deliveries.enqueue({ ...row, event: "bulk.completed" }, { waiting });
    }
  }
}

/** Sessions of which the victim was told, and who waits for one. */
class Told {
  readonly #known = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  tell(body: string): void {
    const session = /"session": ?"([0-9a-f]{32})"/.exec(body)?.[1] ?? "";
    this.#known.add(session);
    this.#waiting.get(session)?.();
  }

  async wait(session: string): Promise<void> {
    if (this.#known.has(session)) return;
    await new Promise<void>((resolve) => {
      this.#waiting.set(session, resolve);
      setTimeout(resolve, TOLD_WITHIN_MS).unref();
    });
  }
}

/** Receivers of the attackers that hang, and a good one of the victim. Needs the network of `public-namespace.ts`. */
export async function slowWebhooks(): Promise<Outside> {
  const folder = temporaryFolder();
  const authority = join(folder, "authority.pem");
  writeFileSync(authority, testAuthority);
  const told = new Told();
  const hanging = createTls(TLS, (socket) => void socket.on("error", () => undefined).resume());
  const good = createServer(TLS, (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      told.tell(body);
      response.end("ok");
    });
  });
  await Promise.all([
    once(hanging.listen(HANGING_PORT, PUBLIC_V4), "listening"),
    once(good.listen(GOOD_PORT, PUBLIC_V4), "listening"),
  ]);
  return {
    settings: { NODE_EXTRA_CA_CERTS: authority },
    prepare,
    told: (session) => told.wait(session),
    stop() {
      hanging.close();
      good.close();
    },
  };
}
