import type { Chance } from "../chance.ts";
import { entryOf, type Fate, fateOf, type NameFaults } from "../names.ts";
import type { Reply } from "../world.ts";

/** The longest answer to a batch. */
export const BULK_MS = 32_000;

export interface Wanted {
  readonly unique: number;
  readonly fates: Readonly<Record<Fate, number>>;
  readonly valid: readonly string[];
}

export interface Stats {
  readonly unique: number;
  readonly valid: number;
  readonly invalid_dns: number;
  readonly invalid_format: number;
}

/** What the contract says of a batch, worked out the simplest way. */
export function wanted(entries: readonly string[], names: Pick<NameFaults, "isEbb">): Wanted {
  const unique = [...new Set(entries)];
  const fates = { valid: 0, invalid_dns: 0, invalid_format: 0 };
  for (const entry of unique) fates[fateOf(entry, names)] += 1;
  return {
    unique: unique.length,
    fates,
    valid: unique.filter((one) => fateOf(one, names) === "valid"),
  };
}

/** No answer, or one that leaves open what happened. */
export const isOpen = ({ status }: Reply): boolean =>
  status === 0 || status >= 500 || status === 409;

export const entriesOf = (chance: Chance, count: number): readonly string[] =>
  Array.from({ length: count }, () => entryOf(chance));

/** Of a batch that becomes a job, of 1 to 11 chunks; the last of them is small. */
export const largeCount = (chance: Chance): number =>
  chance.pick([120, 120, 520, 520, 2_520, 5_020]) + chance.below(40);
