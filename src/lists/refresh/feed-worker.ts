import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { SHARED_BYTES_MAX, type SharedFile } from "../feed-files.ts";
import type { RefreshOutcome } from "../feed-refresh.ts";
import { type Fetched, assessFeed } from "./assess-feed.ts";
import { readCopy, textOf, writeCopy, writeWhole } from "../files/feed-copy.ts";
import { FETCHED_SOURCES } from "../sources/feed-sources.ts";
import { loadLists } from "../load/load-lists.ts";
import type { LoadedLists } from "../load/pack-lists.ts";
import { packFile, unpackFile } from "../table/lists-file.ts";
import { isFit } from "../table/name-table.ts";

/** The worker thread of a refresh: parses, tests, writes, packs, shares and takes, so that the thread that serves need not. */

/** A file as it came; its bytes are handed over, not copied. */
export interface FetchedFile extends Omit<Fetched, "text"> {
  readonly id: string;
  readonly body: Uint8Array;
}

/** Each order has one answer, in order. */
export type ListOrder =
  | { readonly kind: "assess"; readonly file: FetchedFile }
  | { readonly kind: "pack" }
  | { readonly kind: "wrap"; readonly name: string; readonly nowMs: number }
  | { readonly kind: "take"; readonly file: SharedFile };

export type ListAnswer =
  | { readonly kind: "assessed"; readonly outcome: RefreshOutcome }
  | { readonly kind: "packed"; readonly loaded: LoadedLists }
  | { readonly kind: "wrapped"; readonly file: SharedFile | undefined }
  | { readonly kind: "taken"; readonly taking: Taking };

/** The result for a shared file: it is new here, known, invalid, or could not be written. */
export type Taking = "new" | "same" | "unfit" | "not_kept";

function assess(folder: string, { id, body, ...fetched }: FetchedFile): RefreshOutcome {
  const source = FETCHED_SOURCES.find((known) => known.id === id);
  if (source === undefined) throw new Error(`no list source ${id}`);
  const text = new TextDecoder().decode(body);
  const assessment = assessFeed(source, { ...fetched, text }, readCopy(folder, id));
  if (assessment.kind === "refused") return { id, ...assessment };
  try {
    writeCopy(folder, assessment.copy);
  } catch (fault) {
    const detail = fault instanceof Error ? fault.message : "unknown";
    return { id, kind: "refused", why: "not_kept", detail };
  }
  return { id, kind: "accepted" };
}

/** A file as it is shared; undefined when there is none that is whole and good, or it is too large. */
async function wrap(folder: string, name: string, nowMs: number): Promise<SharedFile | undefined> {
  const text = textOf(join(folder, name));
  if (text === undefined || !isFit(name, text)) return undefined;
  const file = await packFile(name, text, nowMs);
  return file.content.length <= SHARED_BYTES_MAX ? file : undefined;
}

/** What another machine shared is believed no more than what a source sent. */
async function take(folder: string, file: SharedFile): Promise<Taking> {
  const text = await unpackFile(file);
  if (text === undefined || !isFit(file.name, text)) return "unfit";
  const path = join(folder, file.name);
  if (textOf(path) === text) return "same";
  try {
    writeWhole(path, text);
  } catch {
    return "not_kept";
  }
  return "new";
}

async function answerTo(folder: string, order: ListOrder): Promise<ListAnswer> {
  switch (order.kind) {
    case "pack":
      return { kind: "packed", loaded: loadLists(folder) };
    case "assess":
      return { kind: "assessed", outcome: assess(folder, order.file) };
    case "wrap":
      return { kind: "wrapped", file: await wrap(folder, order.name, order.nowMs) };
    case "take":
      return { kind: "taken", taking: await take(folder, order.file) };
  }
}

const { folder } = workerData as { readonly folder: string };
// An uncaught fault ends the thread and rejects the waiting calls.
parentPort?.on("message", (order: ListOrder) => {
  void answerTo(folder, order).then((answer) => parentPort?.postMessage(answer));
});
