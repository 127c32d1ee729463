/** Bounds an `LRUCache` to `entriesMax` entries, as `max` does, which allocates every slot at once. */
export const entriesUpTo = (
  entriesMax: number,
): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entriesMax,
  sizeCalculation: () => 1,
});

/** Makes the same of the same text once; all is forgotten when it is too much. */
export function remembered<T extends object | string>(
  make: (text: string) => T,
  most = 10_000,
): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = make(text);
    if (known.size >= most) known.clear();
    known.set(text, made);
    return made;
  };
}
