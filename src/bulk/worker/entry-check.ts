import { type Fate, fateOf, tally } from "../../core/batch/tally.ts";
import { type FullResult, isInconclusive } from "../../core/validate/result.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { ChunkOutcome } from "../batches.ts";

export interface EntryCheckOptions {
  /** The tier includes the check. */
  readonly spamTrap: boolean;
  /** The first answer was inconclusive: ask DNS once more, without the cache. */
  readonly again?: true;
  /** Whose questions they are, where owners share places for them. */
  readonly by?: OwnerKey;
}

/** An entry for which DNS was asked. Thousands wait for their conclusion: it weighs less than the result. */
export interface Heard {
  /** DNS said something, or was not asked. */
  readonly isAnswered: boolean;
  /** About what its conclusion costs and its result weighs, in multiples of the least. */
  readonly weight: number;
  /** The result; it costs more CPU than the question. To be called once; throws for a fault only. */
  conclude(): FullResult;
}

/** Core checks of one entry, its type inferred. Rejects for a fault only. */
export type EntryCheck = (entry: string, options: EntryCheckOptions) => Promise<Heard>;

/** Whether DNS was asked, and whether anybody could say. */
export type DnsOutcome = "conclusive" | "inconclusive" | "not_asked";

/**
 * An entry's result, reduced to what is kept: thousands of them wait for the slowest of their chunk, and
 * the result itself is four times as large.
 */
export interface Checked {
  /** The result, serialised once. */
  readonly text: string;
  readonly fate: Fate;
  readonly dns: DnsOutcome;
}

export const checked = (result: FullResult): Checked => ({
  text: JSON.stringify(result),
  fate: fateOf(result),
  dns: dnsOutcome(result),
});

function dnsOutcome(result: FullResult): DnsOutcome {
  if (!result.format || result.signals.includes("special_use_domain")) return "not_asked";
  return isInconclusive(result) ? "inconclusive" : "conclusive";
}

/** What the results of a chunk's entries, in their order, come to. */
export function outcomeOf(entries: readonly string[], results: readonly Checked[]): ChunkOutcome {
  return {
    results: results.map(({ text }) => text),
    valid: entries.filter((_, index) => results[index]?.fate === "valid"),
    tally: tally(results.map(({ fate }) => fate)),
  };
}
