import { EMPTY_TALLY, fateOf, type Tally } from "../../core/tally.ts";
import type { FullResult } from "../../core/result.ts";
import type { ChunkOutcome } from "../../ports/batches.ts";

export interface JudgeOptions {
  /** The tier includes the check. */
  readonly spamTrap: boolean;
  /** The first answer was inconclusive: ask DNS once more, whatever is remembered of the first time. */
  readonly again?: true;
}

/** Core checks of one entry, its type inferred. Rejects for a fault only. */
export type Judge = (entry: string, options: JudgeOptions) => Promise<FullResult>;

/** What the results of a chunk's entries, in their order, come to. */
export function outcomeOf(
  entries: readonly string[],
  results: readonly FullResult[],
): ChunkOutcome {
  const tally: Record<keyof Tally, number> = { ...EMPTY_TALLY };
  const valid: string[] = [];
  for (const [index, result] of results.entries()) {
    const fate = fateOf(result);
    tally[fate] += 1;
    if (fate === "valid") valid.push(entries[index] ?? "");
  }
  return { results: results.map((result) => JSON.stringify(result)), valid, tally };
}

/** DNS was asked and nobody could say. */
export const isInconclusive = (result: FullResult): boolean =>
  result.signals.includes("dns_indeterminate");

/** DNS was asked and somebody could say. */
export const isConclusive = (result: FullResult): boolean =>
  result.format && !isInconclusive(result) && !result.signals.includes("special_use_domain");
