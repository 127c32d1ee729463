import type { ValidationResult } from "../validate/result.ts";

/** What an entry counts as; the first that applies, in this order: format, disposable, dns, else valid. */
export type Fate = "invalidFormat" | "disposable" | "invalidDns" | "valid";

/** Unique entries by fate. */
export type Tally = Readonly<Record<Fate, number>>;

export const EMPTY_TALLY: Tally = { invalidFormat: 0, disposable: 0, invalidDns: 0, valid: 0 };

/** Inconclusive DNS counts as `invalidDns`, for `dns` is false then too. */
export function fateOf(result: Pick<ValidationResult, "format" | "disposable" | "dns">): Fate {
  if (!result.format) return "invalidFormat";
  if (result.disposable) return "disposable";
  return result.dns ? "valid" : "invalidDns";
}

/** Sums tallies, fate by fate. */
export function sumOf(tallies: Iterable<Tally>): Tally {
  const sums = { ...EMPTY_TALLY };
  for (const one of tallies) {
    for (const fate of Object.keys(sums) as Fate[]) sums[fate] += one[fate];
  }
  return sums;
}

/** How many entries a tally counts. */
export const entriesIn = ({ invalidFormat, disposable, invalidDns, valid }: Tally): number =>
  invalidFormat + disposable + invalidDns + valid;

/** Counts each fate; the four sum up to the number of fates. */
export function tally(fates: Iterable<Fate>): Tally {
  const counts = { ...EMPTY_TALLY };
  for (const fate of fates) counts[fate] += 1;
  return counts;
}
