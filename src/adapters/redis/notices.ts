import { Redis } from "ioredis";
import type { Ids } from "../../ports/ids.ts";
import { type Notices, type Topic, TOPICS } from "../../ports/notices.ts";
import { clientOptions } from "./client-options.ts";
import type { RedisConnection } from "./connection.ts";

export interface RedisNotices extends Notices {
  close(): void;
}

/** Where every process tells and hears topics, by their names. */
export const CHANNEL = "gatepost:notices";

/**
 * Notices by publish and subscribe, on a connection of their own. What was said while it was cut is lost, so
 * a connection that is back tells everybody of everything once.
 */
export function redisNotices(
  url: URL,
  { connection, ids }: { readonly connection: RedisConnection; readonly ids: Pick<Ids, "bytes"> },
): RedisNotices {
  const listeners = new Map<Topic, Set<() => void>>(TOPICS.map((topic) => [topic, new Set()]));
  const hearAll = (topic: Topic): void => {
    for (const listener of listeners.get(topic) ?? []) listener();
  };
  const subscriber = new Redis(clientOptions(url, ids));
  let wasReady = false;
  subscriber
    .on("error", () => undefined) // the other connection's log line says it
    .on("message", (_channel: string, message: string) => {
      const topic = TOPICS.find((name) => name === message);
      if (topic !== undefined) hearAll(topic);
    })
    .on("ready", () => {
      subscriber.subscribe(CHANNEL).then(
        () => {
          if (wasReady) TOPICS.forEach(hearAll);
          wasReady = true;
        },
        () => subscriber.disconnect(true),
      );
    });
  return {
    tell(topic) {
      // Here at once, and a second time by the channel, which changes nothing.
      hearAll(topic);
      connection.publish(CHANNEL, topic);
    },
    hear(topic, listener) {
      const heard = listeners.get(topic);
      heard?.add(listener);
      return () => void heard?.delete(listener);
    },
    close: () => subscriber.disconnect(),
  };
}
