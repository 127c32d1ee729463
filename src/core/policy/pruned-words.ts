/** Says behind `before` that a save deleted old versions; "" when it did not. */
export function prunedWords({ pruned = 0 }: { readonly pruned?: number }, before = ""): string {
  if (pruned === 0) return "";
  const what = pruned === 1 ? "1 old version was" : `${String(pruned)} old versions were`;
  return `${before}${what} deleted to make room`;
}
