/** `accounts`: keys, tiers, standing, credits. `policies`: hooks too. `lists`: rules, fetched and learned lists. */
export const TOPICS = ["accounts", "policies", "lists", "webhooks", "jobs"] as const;
export type Topic = (typeof TOPICS)[number];

/** Messages that something changed. They may be lost or late, so a poll stands beside every listener. */
export interface Notices {
  /** Tells every process, this one included. Call it once the change is committed. Never throws. */
  tell(topic: Topic): void;
  hear(topic: Topic, listener: () => void): () => void;
}

export function memoryNotices(): Notices {
  const listeners = new Map<Topic, Set<() => void>>();
  return {
    tell(topic) {
      for (const listener of listeners.get(topic) ?? []) listener();
    },
    hear(topic, listener) {
      const known = listeners.get(topic) ?? new Set();
      listeners.set(topic, known.add(listener));
      return () => void known.delete(listener);
    },
  };
}
