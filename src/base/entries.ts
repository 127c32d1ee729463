/** Bounds an `LRUCache` to `entriesMax` entries, as `max` does, which allocates every slot at once. */
export const entriesUpTo = (
  entriesMax: number,
): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entriesMax,
  sizeCalculation: () => 1,
});
