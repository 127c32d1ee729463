import type { CopyHead, ListCopy } from "../../src/adapters/lists/files/list-copy.ts";

/** A copy of "ded" as a process might have accepted it. */
export function copyOf(lines: readonly string[], head: Partial<CopyHead> = {}): ListCopy {
  const count = lines.length;
  const figures = { fetchedAtMs: 1_790_000_000_000, baseDay: 20_700, fetchedNames: count };
  return { head: { id: "ded", ...figures, names: count, ...head }, lines };
}

/** The copy as its file holds it. */
export const textOf = ({ head, lines }: ListCopy): string =>
  [JSON.stringify({ v: 1, ...head }), ...lines, ""].join("\n");
