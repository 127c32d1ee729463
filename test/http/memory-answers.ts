import type { KeptResult, KeptResults } from "../../src/check/kept-answers.ts";

/** Results in a map, for services under test. */
export function memoryAnswers(): Pick<KeptResults, "read" | "keep"> {
  const kept = new Map<string, { result: KeptResult; expiresAtMs: number }>();
  return {
    read(key, nowMs) {
      const found = kept.get(key);
      return found !== undefined && found.expiresAtMs > nowMs ? found.result : undefined;
    },
    keep: (key, result, expiresAtMs) => void kept.set(key, { result, expiresAtMs }),
  };
}
