import type { Log } from "../../base/log.ts";
import { type OwnerKey, ownerKey } from "../../base/owner.ts";
import {
  badUpload,
  missingParameter,
  notFound,
  notMultipart,
  uploadTooLarge,
} from "../../base/refusals.ts";
import { forBulk } from "../../bulk/jobs/bulk-shapes.ts";
import type { BulkService } from "../../bulk/jobs/submit.ts";
import { FILE_MAX_OCTETS } from "../../bulk/files/list-file.ts";
import type { UploadOptions } from "../../bulk/files/read-upload.ts";
import { component, Type } from "../../core/json-schema.ts";
import { json, type Operation, optionalText, parametersOf } from "../operation.ts";
import { type BodyReader, leftSignal } from "../body.ts";
import { readMultipart } from "../decode.ts";
import { Params } from "../params.ts";
import type { ApiReply, ApiRequest, HttpRequest, Route } from "../route.ts";
import {
  ANSWERED,
  BULK,
  COUNTERS,
  type BulkHandler,
  CHECK_LIST,
  bulkReply,
  idempotencyKeyOf,
  RESULTS_FIELD,
} from "./bulk.ts";
import { readFile, type ReadFile } from "./read-file.ts";

interface UploadDeps {
  readonly bodies: BodyReader;
  readonly bulk: Pick<BulkService, "submit" | "entriesMax">;
  readonly checkList: BulkHandler;
  readonly log: Log;
  readonly readLarge?: ReadFile;
}

/** POST `/api/bulk`: a list in the body; POST `/api/bulk/upload`: the entries of a file. */
export function uploadRoute(deps: UploadDeps): Route {
  const { bodies } = deps;
  return {
    family: "bulk",
    methods: ["POST"],
    body: "stream",
    parameters: parametersOf(CHECK_LIST, UPLOAD),
    charges: "units",
    refused: (refusal) => refusal && forBulk(refusal),
    async handle(request) {
      if (request.path.length === 0) return await checkBody(request, bodies, deps.checkList);
      if (request.path.length !== 1 || request.path[0] !== "upload") throw notFound();
      const owner = ownerKey(request.admitted.caller.owner);
      const multipart = await readUploaded(request.source, owner, bodies);
      request.received(multipart.file.chunks[0]?.length ?? 0);
      try {
        return await submit(multipart, request, deps);
      } finally {
        multipart.release();
      }
    },
  };
}

async function checkBody(
  request: ApiRequest,
  bodies: BodyReader,
  checkList: BulkHandler,
): Promise<ApiReply> {
  const owner = ownerKey(request.admitted.caller.owner);
  const wanted = parametersOf(CHECK_LIST);
  const terms = { owner, wanted, received: request.received };
  const { body, release } = await bodies.read(request.source, terms);
  try {
    const params = new Params(body, "", wanted);
    const text = params.bulkText("email") ?? "";
    const wantsResults = params.flag("json") || request.params.flag("json");
    return await checkList({ ...request, params }, { family: "email", text, wantsResults });
  } finally {
    release();
  }
}

interface Uploaded {
  readonly file: UploadedFile;
  readonly fields: ReadonlyMap<string, string>;
  /** Drops what is left of the file and gives its memory back; may be called twice. */
  readonly release: () => void;
}

export interface UploadedFile {
  /** Who reads the file takes them out. */
  readonly chunks: Uint8Array[];
  readonly name: string;
  readonly mediaType: string;
}

const FRAME_MAX_BYTES = 65_536;
const BODY_MAX_BYTES = FILE_MAX_OCTETS + FRAME_MAX_BYTES;
const LIMITS = { files: 1, fileSize: FILE_MAX_OCTETS, fields: 5, fieldSize: 1_024, parts: 7 };

/** Reads the one file of a body into memory. Refuses with 400, 408 (too slow), 413, 415, 429 or 503. */
export async function readUploaded(
  source: HttpRequest,
  owner: OwnerKey,
  bodies: BodyReader,
): Promise<Uploaded> {
  const { "content-type": type = "", "content-length": length = "0" } = source.headers;
  if (!/^multipart\/form-data *(?:;|$)/i.test(type)) throw notMultipart();
  // The announced length counts the frame too, which is small.
  const octets = Number(length) > FILE_MAX_OCTETS ? Number(length) : undefined;
  const tooLarge = (): Error => uploadTooLarge(FILE_MAX_OCTETS, octets);
  if (Number(length) > BODY_MAX_BYTES) throw tooLarge();
  const terms = { owner, maxBytes: BODY_MAX_BYTES, tooLarge, isUpload: true as const };
  const { bytes, release } = await bodies.receive(source, terms);
  const fields = new Map<string, string>();
  const chunks: Uint8Array[] = [];
  let file: UploadedFile | undefined;
  let isLong = false;
  try {
    await readMultipart(type, bytes, {
      limits: LIMITS,
      tooMany: "Send one file, and column, sheet, encoding and json only.",
      field: (name, value) => void (fields.has(name) || fields.set(name, value)),
      file(_name, stream, name = "", mediaType) {
        file = { chunks, name, mediaType };
        stream.on("data", (piece: Buffer) => void chunks.push(piece));
        stream.on("limit", () => (isLong = true));
      },
    });
    if (isLong) throw tooLarge();
    if (file === undefined) throw missingParameter("file");
  } catch (refusal) {
    release();
    throw refusal;
  }
  chunks.splice(0, chunks.length, Buffer.concat(chunks)); // pieces are views of the whole body
  const dropped = (): void => {
    chunks.length = 0;
    release();
  };
  return { file, fields, release: dropped };
}

async function submit(
  { file, fields }: Uploaded,
  request: ApiRequest,
  { bulk, log, readLarge = readFile }: UploadDeps,
): Promise<ApiReply> {
  const given = (name: string): string => fields.get(name) ?? request.params.text(name) ?? "";
  const [column, sheet, encoding] = [given("column"), given("sheet"), given("encoding")];
  const wantsResults =
    /^(?:true|1)$/i.test(fields.get("json") ?? "") ||
    (!fields.has("json") && request.params.flag("json"));
  const { caller } = request.admitted;
  const name =
    /^text\/(?:csv|tab-separated-values)$/.test(file.mediaType) && !/\.[a-z]+$/i.test(file.name)
      ? "list.csv"
      : file.name;
  const options: UploadOptions = {
    name,
    ...(column !== "" && { column }),
    ...(sheet !== "" && { sheet }),
    ...(encoding !== "" && { encoding }),
    entriesMax: bulk.entriesMax(caller),
  };
  // What came of it has its place in "uploads" until it is stored, and its owner's next file finds no room beside it.
  const { chunks } = file;
  const left = leftSignal(request.source);
  const order = { chunks, options };
  const { entries, digest } = await readLarge(order, ownerKey(caller.owner), left);
  const parts = [name, column, sheet, encoding, String(wantsResults), digest];
  const retry = idempotencyKeyOf(request, () => ["bulk", ...request.path, ...parts]);
  const batch = retry === undefined ? entries : { ...entries, retry };
  const answer = await bulk.submit(request.admitted, batch);
  return bulkReply(answer, wantsResults, log, entries.facts);
}

export const UPLOAD: Operation = {
  ...BULK,
  id: "uploadEntries",
  at: "POST /api/bulk/upload",
  summary: "Check the entries of a CSV, text, JSON, vCard or .xlsx file",
  about:
    "The other columns are kept in the session: `/api/view/{session}/csv` and `/xlsx` give the file back with " +
    "the results beside each row. `column`, `sheet`, `encoding` and `json` work in the query, too.",
  answers: json(ANSWERED, component("UploadAnswer"), {
    ...COUNTERS,
    encoding: "utf-8",
    column: "mail",
    other_columns: [],
    rows: 3,
    rows_with_reason: 0,
    reasons: [],
  }),
  isIdempotent: true,
  isUpload: true,
  body: {
    file: {
      schema: Type.Unsafe<unknown>({
        type: "string",
        format: "binary",
        description:
          "Text, CSV, JSON, vCard or .xlsx; at most 20,000,000 octets and 1,000,000 entries.",
      }),
    },
    column: optionalText(
      "Number from 1, or name, of the column with the entries; absent: found by its name, else by content.",
    ),
    sheet: optionalText(
      "Name, or number from 1, of the sheet of a workbook; absent: the visible one with the most entries.",
    ),
    encoding: optionalText(
      "Label of the text's encoding, such as `shift_jis`; absent: UTF-8, UTF-16 or Windows-1252, whichever it is.",
    ),
    json: RESULTS_FIELD,
  },
  refusals: {
    ...BULK.refusals,
    400: [
      "No file, no such column, or a file that cannot be read; the message says where.",
      badUpload("No column holds addresses or domains; name it with column."),
    ],
    413: ["The file is over 20,000,000 octets.", uploadTooLarge(20_000_000, 23_456_789)],
    415: ["Another media type.", notMultipart()],
  },
};
