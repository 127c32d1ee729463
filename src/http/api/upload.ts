import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { ownerKey } from "../../base/owner.ts";
import { badUpload, notFound, notMultipart, uploadTooLarge } from "../../base/refusals.ts";
import type { Shares } from "../../base/shares.ts";
import type { BulkService } from "../../bulk/submit.ts";
import type { UploadOptions } from "../../bulk/read-upload.ts";
import { Type } from "../../core/json-schema.ts";
import { apiError, type Paths, queryParameter } from "../openapi.ts";
import type { ApiReply, ApiRequest, Route } from "../route.ts";
import { bulkFields, bulkReply, bulkResponses, IDEMPOTENCY_KEY, idempotencyKeyOf } from "./bulk.ts";
import { createMultipartReader, type Multipart, type UploadedFile } from "./multipart.ts";
import { type FileRead, readFile, type ReadFile } from "./read-file.ts";

interface UploadDeps {
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
    parameters: new Set(["column", "sheet", "json"]),
    charges: "units",
    documentation,
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
  const given = (name: string): string => fields.get(name) ?? request.params.text(name) ?? "";
  const [column, sheet] = [given("column"), given("sheet")];
  const wantsResults =
    /^(?:true|1)$/i.test(fields.get("json") ?? "") ||
    (!fields.has("json") && request.params.flag("json"));
  const { caller } = request.entrance;
  const name =
    /^text\/(?:csv|tab-separated-values)$/.test(file.mediaType) && !/\.[a-z]+$/i.test(file.name)
      ? "list.csv"
      : file.name;
  const options: UploadOptions = {
    name,
    ...(column !== "" && { column }),
    ...(sheet !== "" && { sheet }),
    entriesMax: bulk.entriesMax(caller),
  };
  const owner = ownerKey(caller.owner);
  const read = (): Promise<FileRead> => readLarge({ chunks: file.chunks, options });
  // What came of it has its place in "uploads" until it is stored, and its owner's next file finds no room beside it.
  const { entries, digest } = await shares.of("decoding").run(owner, read, sizeOf(file));
  const said = [name, column, sheet, String(wantsResults), digest];
  const retry = idempotencyKeyOf(request, () => ["bulk", ...request.path, ...said]);
  const batch = retry === undefined ? entries : { ...entries, retry };
  const answer = await bulk.submit(request.entrance, batch);
  return bulkReply(answer, wantsResults, log, entries.facts);
}

const sizeOf = ({ chunks }: UploadedFile): number =>
  chunks.reduce((octets, chunk) => octets + chunk.length, 0);

const COLUMN =
  "Name, or number from 1, of the column with the entries; absent: found by its name, else by content.";

const SHEET =
  "Name, or number from 1, of the sheet of a workbook; absent: the one with the most entries.";

const form = Type.Object({
  file: Type.Unsafe<unknown>({
    type: "string",
    format: "binary",
    description:
      "Text, CSV, JSON lines or .xlsx, in UTF-8, UTF-16 or Windows-1252; at most 20,000,000 octets and 1,000,000 entries.",
  }),
  column: Type.Optional(Type.String({ description: COLUMN })),
  sheet: Type.Optional(Type.String({ description: SHEET })),
  json: bulkFields.json,
});

const documentation: Paths = {
  "/api/bulk/upload": {
    post: {
      operationId: "uploadEntries",
      summary: "Check the entries of a CSV, text, JSON lines or .xlsx file",
      description:
        "The other columns of a CSV are kept in the session: `/api/view/{session}/csv` gives the file back with " +
        "the results beside each row.",
      tags: ["bulk"],
      parameters: [
        IDEMPOTENCY_KEY,
        queryParameter("column", COLUMN),
        queryParameter("sheet", SHEET),
        queryParameter("json", "1"),
      ],
      requestBody: { required: true, content: { "multipart/form-data": { schema: form } } },
      responses: {
        ...bulkResponses,
        400: apiError(
          "No file, no such column, or a file that cannot be read; the message says where.",
          badUpload("No column holds addresses or domains; name it with column."),
        ),
        413: apiError(
          "The file is over 20,000,000 octets.",
          uploadTooLarge(20_000_000, 23_456_789),
        ),
        415: apiError("Another media type.", notMultipart()),
      },
    },
  },
};
