import type { Datasets } from "./datasets.ts";

/** The operator's word on the domain beats the curated list in both directions. */
export function isKnownGood(
  name: string,
  { operator, knownGood }: Pick<Datasets, "operator" | "knownGood">,
): boolean {
  const word = operator.domain(name);
  return word === undefined ? knownGood.has(name) : word === "allow";
}
