import { readFileSync, statSync } from "node:fs";
import { crc32 } from "node:zlib";
import { decodeLists } from "../../../src/lists/lists-file.ts";
import type { PackedDatasets } from "../../../src/lists/shared-datasets.ts";

/** Where fresh lists come from. Undefined: nothing has changed since they were read last. */
export type ReadFresh = () => Promise<PackedDatasets | undefined>;

const FILE_MAX_BYTES = 64 * 1_048_576;

/** `from`: the URL of a file of lists, or such a file. Reading rejects with an `Error` that begins with `lists:`. */
export function freshLists(from: string, key: string | undefined): ReadFresh {
  const read = /^https?:/i.test(from) ? fetching(from, key) : reading(from);
  return async () => {
    try {
      return await read();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`lists: ${from}: ${why}`, { cause });
    }
  };
}

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
    const terms = { headers, redirect: "manual", signal: AbortSignal.timeout(30_000) } as const;
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

function reading(path: string): ReadFresh {
  let stamp = "";
  return () => {
    const { mtimeMs, size } = statSync(path);
    const now = `${String(mtimeMs)} ${String(size)}`;
    if (now === stamp) return Promise.resolve(undefined);
    const packed = readListsFile(path);
    stamp = now;
    return Promise.resolve(packed);
  };
}
