import { BUILT_LISTS_FILE, readBuiltLists } from "./built-lists.ts";
import { readLearned } from "../files/learning-file.ts";
import { type FeedCopy, readCopy } from "../files/feed-copy.ts";
import { FETCHED_SOURCES } from "../sources/feed-sources.ts";
import { type LoadedLists, packLists } from "./pack-lists.ts";
import { type ListContents, packMailServers } from "../table/shared-datasets.ts";

/**
 * What lies in the data directory and in the packages: a few milliseconds as long as nothing was fetched, else the
 * work of `packLists`; the start and the worker thread use it. Throws as `readLists`.
 */
export function loadLists(folder: string): LoadedLists {
  const copies = copiesIn(folder);
  const learned = readLearned(folder);
  return copies.size === 0 ? loadBundledLists(learned) : packLists(copies, learned);
}

/** The copies of lists that lie in a folder, by list. */
export function copiesIn(folder: string): ReadonlyMap<string, FeedCopy> {
  const copies = new Map<string, FeedCopy>();
  for (const { id } of FETCHED_SOURCES) {
    const copy = readCopy(folder, id);
    if (copy !== undefined) copies.set(id, copy);
  }
  return copies;
}

/** As the build packed them; packed here where it did not, or of other packages. */
function loadBundledLists(mailServers: ListContents["mailServers"]): LoadedLists {
  const built = readBuiltLists(BUILT_LISTS_FILE, packMailServers(mailServers));
  return built ?? packLists(new Map(), mailServers);
}

/** What came with the program alone; used by a process that fetches no lists. */
export const loadBundled = (): LoadedLists => loadBundledLists([]);
