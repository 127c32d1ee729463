import { Redis } from "ioredis";
import type { Clock } from "../../ports/process/clock.ts";
import type { Ids } from "../../ports/process/ids.ts";
import { inTime } from "../../ports/process/in-time.ts";
import type { Topic } from "../../ports/process/notices.ts";
import { clientOptions, readRedisUrl } from "./client-options.ts";
import { CHANNEL } from "./notices.ts";

/** Sends notices to serving processes from a process that ends soon and receives none. */
export interface Teller {
  tell(topic: Topic): void;
  /**
   * Sends the collected notices, each topic once, within 500 ms. Never rejects: if Redis is down nothing is sent, and
   * the listeners' polls find the change. Opens no connection if there are no notices.
   */
  close(): Promise<void>;
}

const TOLD_WITHIN_MS = 500;

/** `url` is "redis://" or "rediss://"; throws for another one. */
export function redisTeller(
  url: string,
  { clock, ids }: { readonly clock: Pick<Clock, "after">; readonly ids: Pick<Ids, "bytes"> },
): Teller {
  const options = clientOptions(readRedisUrl(url), ids);
  const told = new Set<Topic>();
  return {
    tell: (topic) => void told.add(topic),
    async close() {
      if (told.size === 0) return;
      const client = new Redis({ ...options, lazyConnect: true, retryStrategy: () => null });
      client.on("error", () => undefined); // `connect` rejects, too
      const limit = { timeoutMs: TOLD_WITHIN_MS, late: undefined, clock };
      await inTime(publish(client, told), limit).catch(() => undefined);
      client.disconnect();
    },
  };
}

async function publish(client: Redis, topics: ReadonlySet<Topic>): Promise<void> {
  await client.connect();
  await Promise.all([...topics].map((topic) => client.publish(CHANNEL, topic)));
}
