import { createHash } from "node:crypto";
import { ownerKey } from "../../ports/admission/owner.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { Log } from "../../ports/process/log.ts";
import type { Shares } from "../../ports/sharing/shares.ts";
import type { BulkService } from "../../service/bulk/bulk.ts";
import {
  readUpload,
  type UploadedEntries,
  type UploadOptions,
} from "../../service/bulk/read-upload.ts";
import { badUpload, notFound } from "../../service/refusals.ts";
import { createMultipartReader, type Multipart, type UploadedFile } from "../request/multipart.ts";
import { turn } from "../request/slices.ts";
import type { ApiReply, ApiRequest, Route } from "../answer/route.ts";
import { bulkReply, idempotencyKeyOf } from "./bulk.ts";
import { uploadDocumentation } from "./upload-documentation.ts";

export interface UploadDeps {
  readonly bulk: Pick<BulkService, "submit">;
  readonly log: Log;
  readonly clock: Clock;
  readonly shares: Pick<Shares, "of">;
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
  { file, fields, drop }: Multipart,
  request: ApiRequest,
  { bulk, log, shares }: UploadDeps,
): Promise<ApiReply> {
  const column = fields.get("column") ?? request.params.text("column") ?? "";
  const json = fields.get("json");
  const wantsResults =
    json === undefined ? request.params.flag("json") : /^(?:true|1)$/i.test(json);
  const hash = createHash("sha256");
  const options = optionsOf(file, column);
  const slices = paced(file, (slice) => void hash.update(slice));
  const owner = ownerKey(request.entrance.caller.owner);
  const decode = (): Promise<UploadedEntries> => readUpload(slices, options);
  const entries = await shares.of("decoding").run(owner, decode, sizeOf(file));
  drop(); // its entries wait in its place to be split, and its owner's next file finds no room beside them
  if (entries.text.trim() === "") throw badUpload("The file has no entries.");
  const said = [options.kind, column, String(wantsResults), hash.digest("hex")];
  const retry = idempotencyKeyOf(request, () => ["bulk", ...request.path, ...said]);
  const batch = retry === undefined ? entries : { ...entries, retry };
  return bulkReply(await bulk.submit(request.entrance, batch), wantsResults, log);
}

/** Plain text is a list as in every bulk request; all else is CSV, of one column perhaps. */
function optionsOf({ name, mediaType }: UploadedFile, column: string): UploadOptions {
  if (column !== "") return { kind: "table", column };
  const isTable = /\.(?:csv|tsv)$/i.test(name);
  const isList = /\.(?:txt|text|list)$/i.test(name) || mediaType === "text/plain";
  return { kind: isList && !isTable ? "list" : "table" };
}

const sizeOf = ({ chunks }: UploadedFile): number =>
  chunks.reduce((octets, chunk) => octets + chunk.length, 0);

const SLICE_BYTES = 65_536;

/** Slices with room for other requests between them. */
async function* paced(
  { chunks }: UploadedFile,
  note: (slice: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      const slice = chunk.subarray(at, at + SLICE_BYTES);
      note(slice);
      yield slice;
      await turn();
    }
  }
}
