import type { FeedStatus } from "../feed-refresh.ts";
import { readLists, type Stock } from "./bundled.ts";
import type { FeedCopy } from "../files/feed-copy.ts";
import { FETCHED_SOURCES } from "../sources/feed-sources.ts";
import { type ListContents, type SharedDatasets, shareDatasets } from "../table/shared-datasets.ts";

/** One list as it was packed. */
export type LoadedList = Pick<FeedStatus, "id" | "curated" | "names" | "from" | "fetchedAtMs">;

/** Lists, packed, and what each source gave. */
export interface LoadedLists {
  readonly shared: SharedDatasets;
  /** Every source there is, those without any data too. */
  readonly lists: readonly LoadedList[];
}

/** Reads and packs the copies, and in their absence the packages: a quarter of a second of work. Throws as `readLists`. */
export function packLists(
  copies: ReadonlyMap<string, FeedCopy> = new Map(),
  mailServers: ListContents["mailServers"] = [],
  stock?: Stock,
): LoadedLists {
  const contents = readLists(copies, mailServers, stock);
  const counts = new Map<string, number>();
  const disposable = contents.disposable.map((list) => ({
    ...list,
    *read() {
      let count = 0;
      for (const line of list.read()) {
        count += 1;
        yield line;
      }
      counts.set(list.id, count);
    },
  }));
  const shared = shareDatasets({ ...contents, disposable });
  const lists = FETCHED_SOURCES.map(({ id, kind }): LoadedList => {
    const curated = kind === "curated";
    const names = counts.get(id) ?? 0;
    const head = copies.get(id)?.head;
    if (head === undefined) return { id, curated, names, from: names > 0 ? "package" : "nowhere" };
    return { id, curated, names, from: "fetch", fetchedAtMs: head.fetchedAtMs };
  });
  return { shared, lists };
}
