import { isIP } from "node:net";
import { Redis } from "ioredis";
import type { Log } from "../../ports/process/log.ts";

/** Where the tickets lie in Redis: under "gatepost:tickets:". */
export const PLACE = { name: "tickets", prefix: "gatepost" } as const;

const CONNECT_WITHIN_MS = 1_000;
const BACK_OFF_STEP_MS = 100;
const BACK_OFF_MAX_MS = 2_000;

/**
 * A connection as BullMQ demands it: calls wait while it is down instead of failing, so the caller must bound
 * that. Comes back by itself, forever. Its faults are logged once for each time it goes; the driver's messages
 * name hosts and codes, never the password.
 */
export function connect(url: string, log: Pick<Log, "warn">): Redis {
  const client = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_WITHIN_MS,
    disconnectTimeout: 1,
    disableClientInfo: true,
    ...byName(url),
    replyMapping: "legacy",
    retryStrategy: (attempt) => Math.min(BACK_OFF_MAX_MS, attempt * BACK_OFF_STEP_MS),
  });
  let isSaid = false;
  client.on("ready", () => (isSaid = false));
  client.on("error", (fault: Error) => {
    if (isSaid) return;
    isSaid = true;
    log.warn("bulk.tickets_unreachable", { reason: fault.message });
  });
  return client;
}

/** Over TLS a server that many share is chosen by name (RFC 6066 section 3), which Node sends only when told. */
function byName(url: string): { readonly tls?: { readonly servername: string } } {
  const { protocol, hostname } = new URL(url);
  const isName = !hostname.startsWith("[") && isIP(hostname) === 0;
  return protocol === "rediss:" && isName ? { tls: { servername: hostname } } : {};
}
