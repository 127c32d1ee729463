import type { ListSource } from "./datasets.ts";

/** The ids of the lists whose bits are set. */
export function sourceNames(bits: number, sources: readonly ListSource[]): readonly string[] {
  return sources.filter((_, index) => (bits & (1 << index)) !== 0).map(({ id }) => id);
}
