import { LRUCache } from "lru-cache";
import type { Feature } from "../core/checks/registry.ts";
import { denialFields, type SortedFeatures } from "./features.ts";
import type { TimedValidation } from "./single-check.ts";

export interface KeptResult {
  readonly json: string;
  readonly unavailable: readonly Feature[];
}

/** Objects and map cells around one entry, in bytes; measured at about 200. */
const OVERHEAD_BYTES = 200;

/** Results of single checks, kept while every DNS answer behind them may be reused. Losing one costs time only. */
export class KeptResults {
  readonly #kept: LRUCache<string, { readonly result: KeptResult; readonly expiresAtMs: number }>;
  #hits = 0;
  #misses = 0;

  constructor(maxBytes: number) {
    this.#kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ result }, key) => result.json.length + key.length + OVERHEAD_BYTES,
    });
  }

  read(key: string, nowMs: number): KeptResult | undefined {
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.expiresAtMs > nowMs) {
      this.#hits += 1;
      return kept.result;
    }
    this.#misses += 1;
    if (kept !== undefined) this.#kept.delete(key);
    return undefined;
  }

  keep(key: string, result: KeptResult, expiresAtMs: number): void {
    this.#kept.set(key, { result, expiresAtMs });
  }

  reads(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }
}

export const resultToKeep = ({
  result,
  unavailable,
}: Pick<TimedValidation, "result" | "unavailable">): KeptResult => ({
  json: JSON.stringify(result),
  unavailable,
});

/** The result with what must be said of features that it does not hold, in the order asked. */
export function answerOf(
  { json, unavailable }: KeptResult,
  sorted: SortedFeatures,
  publicUrl: () => string,
): string {
  const denied = sorted.requiresUpgrade.length + sorted.unsupported.length;
  if (unavailable.length + denied === 0) return json;
  const missing = sorted.permitted.filter((feature) => unavailable.includes(feature));
  const denials = JSON.stringify(denialFields(sorted, missing, publicUrl()));
  return denials === "{}" ? json : `${json.slice(0, -1)},${denials.slice(1)}`;
}

export const present = (
  validation: Pick<TimedValidation, "result" | "unavailable">,
  sorted: SortedFeatures,
  publicUrl: string,
): string => answerOf(resultToKeep(validation), sorted, () => publicUrl);
