import type { Address } from "./address.ts";
import type { Datasets } from "./datasets.ts";
import type { Evidence } from "./signals.ts";

/** What speaks against this very address on whatever provider: generator patterns, known accounts, dots. */
export function accountEvidence(_address: Address, _datasets: Datasets): readonly Evidence[] {
  return [];
}
