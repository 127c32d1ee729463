import { createHash } from "node:crypto";
import type { BulkFile } from "../../bulk/jobs/bulk-shapes.ts";
import { readUpload, type UploadOptions } from "../../bulk/files/read-upload.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { nextSlice } from "../../base/slices.ts";

export interface FileOrder {
  /** Taken out as they are read, so that their memory is free; each in memory that can be given to a thread. */
  readonly chunks: Uint8Array[];
  readonly options: UploadOptions;
}

export interface FileRead {
  readonly entries: BulkFile;
  readonly digest: string;
}

/** Waits for the owner's share, until `left` is aborted. */
export type ReadFile = (order: FileOrder, owner: OwnerKey, left?: AbortSignal) => Promise<FileRead>;

export const readFile = async ({ chunks, options }: FileOrder): Promise<FileRead> => {
  const hash = createHash("sha256");
  const slices = slicesOf(chunks, (slice) => void hash.update(slice));
  const entries = await readUpload(slices, options);
  return { entries, digest: hash.digest("hex") };
};

const SLICE_BYTES = 65_536;

/** Slices with room for other work between them. */
async function* slicesOf(
  chunks: Uint8Array[],
  note: (slice: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      const slice = chunk.subarray(at, at + SLICE_BYTES);
      note(slice);
      yield slice;
      await nextSlice();
    }
  }
}
