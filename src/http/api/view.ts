import type { Readable } from "node:stream";
import type { Log } from "../../base/log.ts";
import { ownerKey } from "../../base/owner.ts";
import { missingParameter, notFound, sessionNotFound } from "../../base/refusals.ts";
import type { Shares } from "../../base/shares.ts";
import { forBulk } from "../../bulk/jobs/bulk-shapes.ts";
import type { BulkService } from "../../bulk/jobs/submit.ts";
import { WORKBOOK_TYPE, workbookOf } from "../../bulk/files/write-workbook.ts";
import type { Caller } from "../../accounts/admission/caller.ts";
import { component, Type } from "../../core/json-schema.ts";
import {
  EXAMPLE_ID,
  json,
  type Operation,
  type OperationAnswer,
  optionalFlag,
  parametersOf,
  type Refusals,
} from "../operation.ts";
import { type ApiReply, type ApiRequest, JSON_TYPE, jsonReply, type Route } from "../route.ts";
import {
  type Finished,
  framed,
  resultRows,
  resultsCsv,
  resultsJson,
  streamed,
  watched,
} from "./results.ts";

interface ViewDeps {
  readonly log: Log;
  readonly shares: Pick<Shares, "of">;
  readonly bulk: Pick<BulkService, "view" | "results" | "remove">;
}

const SUFFIXES = {
  download: "download",
  separator: "separator",
  separate: "separator",
  comma: "separator",
  json: "json",
  csv: "csv",
  xlsx: "xlsx",
} as const;
type ViewSuffix = (typeof SUFFIXES)[keyof typeof SUFFIXES];

const FORMS = ["json", "csv", "xlsx"] as const;

/** `/api/view/{session}[/{suffix}...]`: valid entries, state, results and removal of a batch. */
export function viewRoute(deps: ViewDeps): Route {
  return {
    family: "view",
    methods: ["GET", "POST", "DELETE"],
    body: "params",
    parameters: new Set(["session", ...Object.keys(SUFFIXES), ...parametersOf(...VIEWS)]),
    charges: "nothing",
    refused: (refusal) => refusal && forBulk(refusal),
    async handle(request) {
      const { path, params, method, admitted } = request;
      const { caller } = admitted;
      const session = path[0] ?? params.text("session") ?? "";
      if (session === "") throw missingParameter("session");
      const suffixes = suffixesOf(request);
      const [form, ...more] = FORMS.filter((name) => suffixes.has(name));
      if (more.length > 0 || (method === "DELETE" && suffixes.size > 0)) throw notFound();
      if (method === "DELETE") {
        await deps.bulk.remove(caller, session);
        return jsonReply({ session, deleted: true });
      }
      if (form === undefined) return listReply(session, suffixes, caller, deps);
      return resultsReply({ session, suffixes, form }, request, deps);
    },
  };
}

function suffixesOf({ path, params }: ApiRequest): ReadonlySet<ViewSuffix> {
  const known = new Map<string, ViewSuffix>(Object.entries(SUFFIXES));
  const suffixes = new Set<ViewSuffix>();
  for (const segment of path.slice(1)) {
    const suffix = known.get(segment.toLowerCase());
    if (suffix === undefined) throw notFound();
    suffixes.add(suffix);
  }
  for (const [name, suffix] of known) if (params.flag(name)) suffixes.add(suffix);
  // Clients of old say which separator they want, "," or "new-line", instead of whether.
  if (/^(?:,|comma)$/i.test(params.text("separator") ?? "")) suffixes.add("separator");
  return suffixes;
}

async function listReply(
  session: string,
  suffixes: ReadonlySet<ViewSuffix>,
  caller: Caller,
  deps: ViewDeps,
): Promise<ApiReply> {
  const view = await deps.bulk.view(caller, session);
  if (view.kind === "progress") return jsonReply(view.progress);
  if (view.kind === "summary") return jsonReply(view.summary);
  const between = suffixes.has("separator") ? "," : "\n";
  const texts = framed(view.valid(), (entry) => entry, { head: "", between, tail: "" });
  const body = shared(() => streamed(texts, deps.log), caller, deps);
  if (!suffixes.has("download")) return { type: "text/plain; charset=utf-8", body };
  // "inline" with a filename is the published contract, not a slip for "attachment".
  const headers = { "content-disposition": 'inline; filename="valid_list.txt"' };
  return { type: "application/octet-stream", body, headers };
}

interface Results {
  readonly session: string;
  readonly suffixes: ReadonlySet<ViewSuffix>;
  readonly form: "json" | "csv" | "xlsx";
}

async function resultsReply(
  { session, suffixes, form }: Results,
  { admitted: { caller }, params }: ApiRequest,
  deps: ViewDeps,
): Promise<ApiReply> {
  const found = await deps.bulk.results(caller, session);
  if (found.kind === "progress") return jsonReply(found.progress);
  const type = TYPES[form];
  const body = shared(bodyOf(found, form, params.flag("bom"), deps.log), caller, deps);
  if (!suffixes.has("download")) return { type, body };
  const headers = { "content-disposition": `attachment; filename="results.${form}"` };
  return { type, body, headers };
}

const TYPES = { json: JSON_TYPE, csv: "text/csv; charset=utf-8", xlsx: WORKBOOK_TYPE } as const;

function bodyOf(found: Finished, form: Results["form"], mark: boolean, log: Log): () => Readable {
  if (form === "xlsx") return () => workbookOf(watched(resultRows(found), log));
  return () => streamed(form === "csv" ? resultsCsv(found, mark) : resultsJson(found), log);
}

/** A body that counts among its owner's until it is read or given up. */
function shared(open: () => Readable, caller: Caller, { shares }: ViewDeps): Readable {
  const reservation = shares.of("view_streams").take(ownerKey(caller.owner));
  return open().once("close", () => reservation.release());
}

const PROGRESS = {
  session: EXAMPLE_ID,
  status: "processing",
  email_count: 12_000,
  processed_count: 4_500,
};

const text = (about: string, example: string): OperationAnswer => ({
  about,
  schema: Type.String(),
  example,
});

const session = Type.String({ description: "As the bulk response names it.", example: EXAMPLE_ID });

const viewOf = (
  id: string,
  suffix: string,
  summary: string,
  more: Partial<Operation> & Pick<Operation, "answers">,
): Operation => ({
  id,
  at: `GET /api/view/{session}${suffix}`,
  alsoPost: true,
  summary,
  path: { session },
  tag: "bulk",
  refusals: SESSION_REFUSALS,
  ...more,
});

const SESSION_REFUSALS: Refusals = {
  404: ["Unknown, malformed, expired, deleted or another owner's.", sessionNotFound()],
};

export const VIEWS: readonly Operation[] = [
  viewOf("viewSessionDownload", "/download", "Read the valid entries of a batch", {
    about:
      "One valid entry a line, once the batch is finished and has some; else JSON, so ask `/json` how far it is. Without " +
      "`/download` the same comes as text/plain.",
    query: {
      separator: optionalFlag(
        "All in one line, separated by commas. Also as path suffix; `separate` and `comma` are the same.",
      ),
    },
    answers: {
      "application/octet-stream": {
        about: "One valid entry a line.",
        schema: Type.String({ format: "binary" }),
      },
    },
  }),
  {
    id: "deleteSession",
    at: "DELETE /api/view/{session}",
    summary: "Cancel a job, or forget its results",
    about: "Entries that no worker has begun are refunded; those that DNS was asked for are not.",
    path: { session },
    tag: "bulk",
    answers: json("The session is gone.", component("Removed"), {
      session: EXAMPLE_ID,
      deleted: true,
    }),
    refusals: SESSION_REFUSALS,
  },
  viewOf("viewSessionJson", "/json", "Read all results of a batch", {
    answers: json(
      "All results, streamed; or how far the batch is.",
      component("SessionResults"),
      PROGRESS,
    ),
  }),
  viewOf("viewSessionCsv", "/csv", "Read all results of a batch as CSV", {
    about: "JSON until it is finished. A cell that a spreadsheet would run gets a '.",
    query: { bom: optionalFlag("With a byte order mark, for Excel.") },
    answers: {
      "text/csv": text(
        "RFC 4180 with a header row; the columns of an upload are kept.",
        "entry,format\r\nada@example.org,true\r\n",
      ),
    },
  }),
  viewOf("viewSessionXlsx", "/xlsx", "Read all results of a batch as a workbook", {
    about: "The table of `/csv` as .xlsx; JSON until it is finished.",
    answers: {
      [WORKBOOK_TYPE]: { about: "A workbook.", schema: Type.String({ format: "binary" }) },
    },
  }),
];
