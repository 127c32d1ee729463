import type { CopyHead, FeedCopy } from "../../src/lists/files/feed-copy.ts";

/** A copy of "ded" that a process might have accepted. */
export function copyOf(lines: readonly string[], head: Partial<CopyHead> = {}): FeedCopy {
  const count = lines.length;
  const figures = { fetchedAtMs: 1_790_000_000_000, baseDay: 20_700, fetchedNames: count };
  return { head: { id: "ded", ...figures, names: count, ...head }, lines };
}

/** The copy in the format of its file. */
export const textOf = ({ head, lines }: FeedCopy): string =>
  [JSON.stringify({ v: 1, ...head }), ...lines, ""].join("\n");
