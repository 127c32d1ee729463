import { isIP } from "node:net";
import { Redis, type RedisOptions } from "ioredis";
import type { Ids } from "../../ports/process/ids.ts";

const CONNECT_WITHIN_MS = 1_000;

/** Between two attempts to connect, before jitter. */
const BACK_OFF_MIN_MS = 50;
const BACK_OFF_MAX_MS = 2_000;

/** "redis://[[user]:password@]host[:port][/database]", or "rediss://" for TLS. Throws without naming the URL. */
export function readRedisUrl(url: string): URL {
  // What `URL` throws holds its input, and with it a password.
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isFit = parsed !== undefined && /^rediss?:$/.test(parsed.protocol);
  if (!isFit || parsed.hostname === "" || !/^(\/\d*)?$/.test(parsed.pathname)) throw badUrl();
  if (/%(?![0-9a-f]{2})/i.test(parsed.username + parsed.password)) throw badUrl();
  return parsed;
}

const badUrl = (): Error =>
  new Error("REDIS_URL must be redis://host:port/database or rediss://host:port/database");

/** Replies as they always were; the driver's types ask for the word. */
export type ClientOptions = RedisOptions & { readonly replyMapping: "legacy" };

/** A connection that never queues: what cannot be sent now is answered now. */
export function clientOptions(url: URL, ids: Pick<Ids, "bytes">): ClientOptions {
  const { port, username, password, pathname, protocol } = url;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    host,
    port: port === "" ? 6_379 : Number(port),
    db: Number(pathname.slice(1)),
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" ? { tls: tlsOptions(host) } : {}),
    replyMapping: "legacy",
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // The driver's own batching waits for a turn of the loop and for the batch before: measured at half the speed.
    enableAutoPipelining: false,
    connectTimeout: CONNECT_WITHIN_MS,
    // A dead connection says no good-bye; waiting for one would keep its calls.
    disconnectTimeout: 1,
    disableClientInfo: true,
    retryStrategy: (attempt) => backOffMs(attempt, ids),
  };
}

/** Opens a connection of its own with each call. */
export const clientOf = (url: URL, ids: Pick<Ids, "bytes">): Redis =>
  new Redis(clientOptions(url, ids));

/** A server that many share by TLS is chosen by name (RFC 6066 section 3), which Node sends only when told. */
const tlsOptions = (host: string): { readonly servername?: string } =>
  isIP(host) === 0 ? { servername: host } : {};

/** Doubles up to its cap; a quarter more or less, so that many processes do not come at once. */
function backOffMs(attempt: number, ids: Pick<Ids, "bytes">): number {
  const steadyMs = Math.min(BACK_OFF_MAX_MS, BACK_OFF_MIN_MS * 2 ** Math.min(attempt - 1, 10));
  return Math.round(steadyMs * (0.75 + (ids.bytes(1)[0] ?? 0) / 512));
}
