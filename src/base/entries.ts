/**
 * Bounds an `LRUCache` to its `entriesMax` entries that were used last, as `max` does. With `max` the library allocates
 * every slot at once, with these options as entries come.
 */
export const entriesUpTo = (
  entriesMax: number,
): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entriesMax,
  sizeCalculation: () => 1,
});
