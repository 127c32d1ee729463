import type { BodyCache } from "../../src/check/single-check.ts";

/** Answers in a map, for services under test. */
export function memoryAnswers(): Pick<BodyCache, "read" | "keep"> {
  const kept = new Map<string, { body: string; expiresAtMs: number }>();
  return {
    read(key, nowMs) {
      const found = kept.get(key);
      return found !== undefined && found.expiresAtMs > nowMs ? found.body : undefined;
    },
    keep: (key, body, expiresAtMs) => void kept.set(key, { body, expiresAtMs }),
  };
}
