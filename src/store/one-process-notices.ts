import type { Notices, Topic } from "./notices.ts";

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
