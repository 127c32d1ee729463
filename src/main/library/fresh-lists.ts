import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Stock } from "../../lists/load/bundled.ts";
import { listFolder } from "../../lists/files/feed-copy.ts";
import { readLearned } from "../../lists/files/learning-file.ts";
import { copiesIn } from "../../lists/load/load-lists.ts";
import { packLists } from "../../lists/load/pack-lists.ts";
import { FETCHED_SOURCES } from "../../lists/sources/feed-sources.ts";
import { decodeLists } from "../../lists/table/lists-file.ts";
import { namesOfTable } from "../../lists/table/name-table.ts";
import type { PackedDatasets } from "../../lists/table/shared-datasets.ts";

/** Where fresh lists come from. Undefined: nothing has changed since they were read last. */
export type ReadFresh = () => Promise<PackedDatasets | undefined>;

interface FreshOptions {
  readonly bundled: () => PackedDatasets;
  /** API key for a URL. */
  readonly key?: string | undefined;
}

const FETCH_MS = 30_000;
const FILE_MAX_BYTES = 64 * 1_048_576;

/**
 * `from`: the URL of a file of lists, such a file, or the data directory of a Gatepost service. What a directory lacks
 * is taken from `bundled`. Reading rejects with an `Error` that begins with `lists:`.
 */
export function freshLists(from: string, { bundled, key }: FreshOptions): ReadFresh {
  const read = /^https?:/i.test(from) ? fetching(from, key) : reading(from, bundled);
  return async () => {
    try {
      return await read();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`lists: ${from}: ${why}`, { cause });
    }
  };
}

/** A file of lists. */
export function readListsFile(path: string): PackedDatasets {
  return decode(readFileSync(path));
}

const decode = (file: Uint8Array): PackedDatasets =>
  decodeLists(file, (bytes) => new ArrayBuffer(bytes), crc32).packed;

function fetching(url: string, key: string | undefined): ReadFresh {
  let etag: string | undefined;
  return async () => {
    const headers = {
      ...(key !== undefined && { "X-Api-Key": key }),
      ...(etag !== undefined && { "If-None-Match": etag }),
    };
    // The key goes to the server that the caller named, and to no other.
    const terms = { headers, redirect: "manual", signal: AbortSignal.timeout(FETCH_MS) } as const;
    const response = await fetch(url, terms);
    if (response.status === 304) return undefined;
    if (response.status !== 200) throw new Error(`the server answers ${String(response.status)}`);
    const packed = decode(await bodyOf(response));
    etag = response.headers.get("etag") ?? undefined;
    return packed;
  };
}

async function bodyOf(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > FILE_MAX_BYTES) throw new Error("the file is longer than 64 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function reading(path: string, bundled: () => PackedDatasets): ReadFresh {
  let stamp = "";
  return () => {
    const now = stampOf(path);
    if (now === stamp) return Promise.resolve(undefined);
    const packed = statSync(path).isDirectory() ? packedOf(path, bundled()) : readListsFile(path);
    stamp = now;
    return Promise.resolve(packed);
  };
}

/** Changes when a file of lists does: they are replaced, never written to. */
function stampOf(path: string): string {
  const names = FETCHED_SOURCES.map(({ id }) => `${id}.list`);
  const files = [path, ...[...names, "learned.json"].map((name) => join(listFolder(path), name))];
  return files
    .map((file) => statSync(file, { throwIfNoEntry: false }))
    .map((stat) => `${String(stat?.mtimeMs)} ${String(stat?.size)}`)
    .join();
}

function packedOf(dataDir: string, bundled: PackedDatasets): PackedDatasets {
  const folder = listFolder(dataDir);
  const copies = copiesIn(folder);
  if (copies.size === 0) throw new Error(`no lists are in ${folder}`);
  return packLists(copies, readLearned(folder), stockOf(bundled)).shared;
}

/** The names of packed lists, to be packed again beside fresh ones. */
function stockOf({ disposable, sources, free, roles }: PackedDatasets): Stock {
  return {
    *names(list) {
      const bit = sources.findIndex(({ id }) => id === list);
      if (bit < 0) return;
      for (const [name] of namesOfTable(disposable, 1 << bit)) yield name;
    },
    free: () => namesIn(free),
    roles: () => namesIn(roles),
  };
}

const namesIn = (table: ArrayBufferLike): readonly string[] =>
  [...namesOfTable(table)].map(([name]) => name);
