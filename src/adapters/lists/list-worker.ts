import { parentPort, workerData } from "node:worker_threads";
import type { RefreshOutcome } from "../../ports/list-refresh.ts";
import { type Fetched, judgeList } from "./judge-list.ts";
import { readCopy, writeCopy } from "./list-copy.ts";
import { FETCHED_SOURCES } from "./list-sources.ts";
import { type LoadedLists, loadLists } from "./load-lists.ts";

/** The worker thread of a refresh: parses, judges, writes and packs, so that the thread that serves need not. */

/** A file as it came; its bytes are handed over, not copied. */
export interface FetchedFile extends Omit<Fetched, "text"> {
  readonly id: string;
  readonly body: Uint8Array;
}

/** Each order has one answer, in order. */
export type ListOrder =
  { readonly kind: "judge"; readonly file: FetchedFile } | { readonly kind: "pack" };

export type ListAnswer =
  | { readonly kind: "judged"; readonly outcome: RefreshOutcome }
  | { readonly kind: "packed"; readonly loaded: LoadedLists };

function judge(folder: string, { id, body, ...fetched }: FetchedFile): RefreshOutcome {
  const source = FETCHED_SOURCES.find((known) => known.id === id);
  if (source === undefined) throw new Error(`no list source ${id}`);
  const text = new TextDecoder().decode(body);
  const judgement = judgeList(source, { ...fetched, text }, readCopy(folder, id));
  if (judgement.kind === "refused") return { id, ...judgement };
  try {
    writeCopy(folder, judgement.copy);
  } catch (fault) {
    const detail = fault instanceof Error ? fault.message : "unknown";
    return { id, kind: "refused", why: "not_kept", detail };
  }
  return { id, kind: "accepted" };
}

function answerTo(folder: string, order: ListOrder): ListAnswer {
  if (order.kind === "pack") return { kind: "packed", loaded: loadLists(folder) };
  return { kind: "judged", outcome: judge(folder, order.file) };
}

const { folder } = workerData as { readonly folder: string };
parentPort?.on("message", (order: ListOrder) => parentPort?.postMessage(answerTo(folder, order)));
