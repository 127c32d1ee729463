import { ownerKey } from "../../../ports/admission/owner.ts";
import type { Clock } from "../../../ports/process/clock.ts";
import type { Log } from "../../../ports/process/log.ts";
import type { Shares } from "../../../ports/sharing/shares.ts";
import type { BulkService } from "../../../service/bulk/bulk.ts";
import type { UploadOptions } from "../../../service/bulk/read-upload.ts";
import { notFound } from "../../../service/refusals.ts";
import { createMultipartReader, type Multipart, type UploadedFile } from "./multipart.ts";
import { type FileRead, readFile, type ReadFile } from "./read-file.ts";
import type { ApiReply, ApiRequest, Route } from "../../answer/route.ts";
import { bulkReply, idempotencyKeyOf } from "./bulk.ts";
import { uploadDocumentation } from "./upload-documentation.ts";

export interface UploadDeps {
  readonly bulk: Pick<BulkService, "submit" | "entriesMax">;
  readonly log: Log;
  readonly clock: Clock;
  readonly shares: Pick<Shares, "of">;
  /** Of files, in a thread; absent: here. */
  readonly readLarge?: ReadFile;
}

/** POST `/api/bulk/upload`: a batch out of a CSV or text file. */
export function uploadRoute(deps: UploadDeps): Route {
  const read = createMultipartReader(deps);
  return {
    family: "bulk",
    methods: ["POST"],
    body: "stream",
    parameters: new Set(["column", "json"]),
    charges: "units",
    documentation: uploadDocumentation,
    isBulk: () => true,
    async handle(request) {
      if (request.path.length !== 1 || request.path[0] !== "upload") throw notFound();
      const owner = ownerKey(request.entrance.caller.owner);
      const multipart = await read(request.source, owner);
      request.received(sizeOf(multipart.file));
      try {
        return await submit(multipart, request, deps);
      } finally {
        multipart.release();
      }
    },
  };
}

async function submit(
  { file, fields }: Multipart,
  request: ApiRequest,
  { bulk, log, shares, readLarge = readFile }: UploadDeps,
): Promise<ApiReply> {
  const column = fields.get("column") ?? request.params.text("column") ?? "";
  const json = fields.get("json");
  const wantsResults =
    json === undefined ? request.params.flag("json") : /^(?:true|1)$/i.test(json);
  const { caller } = request.entrance;
  const options = { ...wayOf(file, column), entriesMax: bulk.entriesMax(caller) };
  const owner = ownerKey(caller.owner);
  const read = (): Promise<FileRead> => readLarge({ chunks: file.chunks, options });
  // What came of it has its place in "uploads" until it is stored, and its owner's next file finds no room beside it.
  const { entries, digest } = await shares.of("decoding").run(owner, read, sizeOf(file));
  const said = [options.kind, column, String(wantsResults), digest];
  const retry = idempotencyKeyOf(request, () => ["bulk", ...request.path, ...said]);
  const batch = retry === undefined ? entries : { ...entries, retry };
  return bulkReply(await bulk.submit(request.entrance, batch), wantsResults, log);
}

/** Plain text is a list as in every bulk request; all else is CSV, of one column perhaps. */
function wayOf(
  { name, mediaType }: UploadedFile,
  column: string,
): Pick<UploadOptions, "kind" | "column"> {
  if (column !== "") return { kind: "table", column };
  const isTable = /\.(?:csv|tsv)$/i.test(name);
  const isList = /\.(?:txt|text|list)$/i.test(name) || mediaType === "text/plain";
  return { kind: isList && !isTable ? "list" : "table" };
}

const sizeOf = ({ chunks }: UploadedFile): number =>
  chunks.reduce((octets, chunk) => octets + chunk.length, 0);
