/**
 * What changed. `accounts`: keys, tiers, standing or credits of accounts. `policies`: sign-up policies
 * and hooks of accounts. `lists`: the operator's
 * entries, fetched and learned lists. `webhooks`: a webhook is queued. `jobs`: a job is queued.
 */
export const TOPICS = ["accounts", "policies", "lists", "webhooks", "jobs"] as const;
export type Topic = (typeof TOPICS)[number];

/**
 * Messages between processes that something changed, so that they need not wait for the next poll. Best effort: a
 * notice may be lost, late or come for nothing, so a poll stands beside every listener. Rules are checked by
 * `test/contracts/process/notices.ts`.
 */
export interface Notices {
  /** Tells every process, this one included. Call it once the change is committed. Never throws. */
  tell(topic: Topic): void;
  /** `listener` must not throw. The returned function ends the listening. */
  hear(topic: Topic, listener: () => void): () => void;
}

/** Notices within this process, heard at once. */
export function memoryNotices(): Notices {
  const listeners = new Map<Topic, Set<() => void>>();
  return {
    tell(topic) {
      for (const listener of listeners.get(topic) ?? []) listener();
    },
    hear(topic, listener) {
      const heard = listeners.get(topic) ?? new Set();
      listeners.set(topic, heard.add(listener));
      return () => void heard.delete(listener);
    },
  };
}
