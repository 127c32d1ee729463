import { parentPort, workerData } from "node:worker_threads";
import { assessFeed, copyText, type Fetched, parseCopy } from "./assess-feed.ts";
import { copyName, type FeedFile, packFeedFile, unpackFeedFile } from "./feed-files.ts";
import type { RefreshOutcome } from "./feed-status.ts";
import { FETCHED_SOURCES } from "./feed-sources.ts";
import { loadLists, type LoadedLists } from "./load-lists.ts";

/** Work on lists of up to a second, in a thread of its own, so that the thread that serves need not do it. */
export type ListWork = AssessWork | { readonly kind: "load"; readonly files: readonly FeedFile[] };

export interface AssessWork extends Omit<Fetched, "text"> {
  readonly kind: "assess";
  readonly id: string;
  readonly body: Uint8Array;
  readonly previous: FeedFile | undefined;
}

export type Assessed = RefreshOutcome | FeedFile;

async function assess({ id, body, previous, ...fetched }: AssessWork): Promise<Assessed> {
  const source = FETCHED_SOURCES.find((known) => known.id === id);
  if (source === undefined) throw new Error(`no list source ${id}`);
  const copy = parseCopy(unpackFeedFile(previous) ?? "", id);
  const judged = assessFeed(source, { ...fetched, text: new TextDecoder().decode(body) }, copy);
  if (judged.kind === "refused") return { id, ...judged };
  return await packFeedFile(copyName(id), copyText(judged.copy), fetched.fetchedAtMs);
}

export const listWork = (work: ListWork): Promise<Assessed | LoadedLists> =>
  work.kind === "load" ? Promise.resolve(loadLists(work.files)) : assess(work);

// A fault ends the thread and rejects the work.
if (parentPort !== null) parentPort.postMessage(await listWork(workerData as ListWork));
