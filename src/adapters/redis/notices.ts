import type { Redis } from "ioredis";
import { type Notices, type Topic, TOPICS } from "../../ports/process/notices.ts";
import type { RedisConnection } from "./connection.ts";

export interface RedisNotices extends Notices {
  /** Resolves once, when this process receives notices. */
  readonly listens: Promise<void>;
  close(): void;
}

/** The channel of all notices; messages are topic names. */
export const CHANNEL = "gatepost:notices";

/**
 * Notices by publish and subscribe, on a connection of their own. What was said before it listened is lost, so
 * every time it begins to listen tells everybody of everything once.
 */
export function redisNotices(
  subscriber: Redis,
  connection: Pick<RedisConnection, "publish">,
): RedisNotices {
  const listeners = new Map<Topic, Set<() => void>>(TOPICS.map((topic) => [topic, new Set()]));
  const hearAll = (topic: Topic): void => {
    for (const listener of listeners.get(topic) ?? []) listener();
  };
  let listensNow = (): void => undefined;
  const listens = new Promise<void>((resolve) => (listensNow = resolve));
  subscriber
    .on("error", () => undefined) // the other connection's log line says it
    .on("message", (_channel: string, message: string) => {
      const topic = TOPICS.find((name) => name === message);
      if (topic !== undefined) hearAll(topic);
    })
    .on("ready", () => {
      subscriber.subscribe(CHANNEL).then(
        () => {
          TOPICS.forEach(hearAll);
          listensNow();
        },
        () => subscriber.disconnect(true),
      );
    });
  return {
    listens,
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
