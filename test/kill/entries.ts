import type { ServedZone } from "../dns/dns-zone.ts";
import type { Chance } from "../sim/chance.ts";

/** "n0.example" and so on. */
export const NAMES = 2_000;
/** One name in so many answers late, but within the first try. */
const LATE_EVERY = 40;

const isLate = (index: number): boolean => index % LATE_EVERY === 0;
const nameOf = (index: number): string => `n${String(index)}.example`;

/** The names that have mail; all others do not exist. */
export const zone: ServedZone = {
  "mx.mail.example": { a: ["203.0.113.5"] },
  ...Object.fromEntries(
    Array.from({ length: NAMES }, (_, index) => [
      nameOf(index),
      { mx: ["10 mx.mail.example"], delayMs: isLate(index) ? 400 : 3 },
    ]),
  ),
};

export const isValid = (entry: string): boolean => /(?:^|@)n\d+\.example$/.test(entry);

/** An entry, valid in nine cases of ten. */
export function entryOf(chance: Chance): string {
  if (chance.isTrue(0.05)) return `gone${String(chance.below(NAMES))}.example`;
  if (chance.isTrue(0.05)) return "mal@@formed";
  const name = nameOf(chance.below(NAMES));
  return chance.isTrue(0.5) ? name : `jo@${name}`;
}

/** So many different entries. */
export function entriesOf(chance: Chance, count: number): readonly string[] {
  const entries = new Set<string>();
  while (entries.size < count) entries.add(entryOf(chance));
  return [...entries];
}
