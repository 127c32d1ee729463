import type { Readable } from "node:stream";
import { ownerKey } from "../../base/owner.ts";
import {
  missingParameter,
  notFound,
  sessionNotFound,
  tooManyStreams,
} from "../../base/refusals.ts";
import { RESOURCES } from "../../base/resources.ts";
import type { BulkProgress, BulkService, CompletedSummary } from "../../bulk/bulk.ts";
import { Type } from "../../core/json-schema.ts";
import {
  apiError,
  byGet,
  COMMON_ERRORS,
  EXAMPLE_ID,
  type MediaType,
  type Operation,
  type Paths,
  type Responses,
  pathParameter,
  queryParameter,
} from "../openapi.ts";
import { component } from "../schemas.ts";
import { type ApiReply, type ApiRequest, JSON_TYPE, type Route } from "../route.ts";
import { type EventStreamDeps, EventStreams } from "./event-streams.ts";
import { framed, resultsCsv, resultsJson, streamed } from "./results.ts";

export interface ViewDeps extends EventStreamDeps {
  readonly bulk: Pick<BulkService, "view" | "results" | "progress" | "remove">;
}

/** What stands behind the session, each once; the aliases of `separator` are it. */
type Suffix = "download" | "separator" | "json" | "csv" | "events";

const SUFFIXES = new Map<string, Suffix>([
  ["download", "download"],
  ["separator", "separator"],
  ["separate", "separator"],
  ["comma", "separator"],
  ["json", "json"],
  ["csv", "csv"],
  ["events", "events"],
]);

interface Asked {
  readonly session: string;
  readonly form: "list" | "json" | "csv" | "events";
  readonly isDownload: boolean;
  /** The CSV begins with a byte order mark, for Excel. */
  readonly hasMark: boolean;
  readonly isOneLine: boolean;
}

/** `/api/view/{session}[/{suffix}...]`: valid entries, state, results, events and removal of a batch. */
export function viewRoute(deps: ViewDeps): Route {
  const streams = new EventStreams(deps);
  return {
    family: "view",
    methods: ["GET", "POST", "DELETE"],
    body: "params",
    parameters: new Set(["session", "bom", ...SUFFIXES.keys()]),
    charges: "nothing",
    documentation,
    isBulk: () => true,
    handle(request) {
      const asked = readAsked(request);
      const { caller } = request.entrance;
      if (request.method === "DELETE") return remove(asked, request, deps);
      if (asked.form === "list") return listReply(asked, request, deps);
      if (asked.form !== "events") return resultsReply(asked, request, deps);
      const body = streams.open(caller, () => deps.bulk.progress(caller, asked.session));
      return body.then((stream) => ({ type: EVENTS, body: stream, headers: UNBUFFERED }));
    },
    stop: () => streams.stop(),
  };
}

const EVENTS = "text/event-stream; charset=utf-8";

/** For nginx, which would hold events back until a buffer is full. */
const UNBUFFERED = { "x-accel-buffering": "no" };

function readAsked(request: ApiRequest): Asked {
  const session = request.path[0] ?? request.params.text("session") ?? "";
  if (session === "") throw missingParameter("session");
  const asked = askedSuffixes(request);
  const forms = FORMS.filter((form) => asked.has(form));
  if (forms.length > 1 || (request.method === "DELETE" && asked.size > 0)) throw notFound();
  return {
    session,
    form: forms[0] ?? "list",
    isDownload: asked.has("download"),
    isOneLine: asked.has("separator"),
    hasMark: request.params.flag("bom"),
  };
}

const FORMS = ["json", "csv", "events"] as const;

function askedSuffixes({ path, params }: ApiRequest): ReadonlySet<Suffix> {
  const asked = new Set<Suffix>();
  for (const segment of path.slice(1)) {
    const suffix = SUFFIXES.get(segment.toLowerCase());
    if (suffix === undefined) throw notFound();
    asked.add(suffix);
  }
  for (const [name, suffix] of SUFFIXES) if (params.flag(name)) asked.add(suffix);
  if (namesComma(params.text("separator"))) asked.add("separator");
  return asked;
}

/** Clients of old say which separator they want, "," or "new-line", instead of whether. */
const namesComma = (separator: string | undefined): boolean =>
  separator === "," || separator?.toLowerCase() === "comma";

/** A progress object, or the summary of a batch without a valid entry. */
const state = (value: BulkProgress | CompletedSummary): ApiReply => ({
  type: JSON_TYPE,
  body: JSON.stringify(value),
});

const DOWNLOAD = "application/octet-stream";
// "inline" with a filename is the published contract, not a slip for "attachment".
const VALID_LIST = { "content-disposition": 'inline; filename="valid_list.txt"' };

async function listReply(
  { session, isDownload, isOneLine }: Asked,
  { entrance }: ApiRequest,
  { bulk, log, shares }: ViewDeps,
): Promise<ApiReply> {
  const view = await bulk.view(entrance.caller, session);
  if (view.kind === "progress") return state(view.progress);
  if (view.kind === "summary") return state(view.summary);
  const frame = { head: "", between: isOneLine ? "," : "\n", tail: "" };
  const texts = framed(view.valid(), (entry) => entry, frame);
  const body = sharedStream(texts, entrance, { log, shares });
  return isDownload
    ? { type: DOWNLOAD, body, headers: VALID_LIST }
    : { type: "text/plain; charset=utf-8", body };
}

async function resultsReply(
  { session, form, isDownload, hasMark }: Asked,
  { entrance }: ApiRequest,
  { bulk, log, shares }: ViewDeps,
): Promise<ApiReply> {
  const found = await bulk.results(entrance.caller, session);
  if (found.kind === "progress") return state(found.progress);
  const [type, texts] =
    form === "csv"
      ? ["text/csv; charset=utf-8", resultsCsv(found, hasMark)]
      : [JSON_TYPE, resultsJson(found)];
  const body = sharedStream(texts, entrance, { log, shares });
  if (!isDownload) return { type, body };
  return {
    type,
    body,
    headers: { "content-disposition": `attachment; filename="results.${form}"` },
  };
}

/** A body that counts among its owner's until it is read or given up. */
function sharedStream(
  texts: AsyncGenerator<string>,
  { caller }: ApiRequest["entrance"],
  { log, shares }: Pick<ViewDeps, "log" | "shares">,
): Readable {
  const hold = shares.of("view_streams").take(ownerKey(caller.owner));
  return streamed(texts, log).once("close", () => hold.release());
}

async function remove(
  { session }: Asked,
  { entrance }: ApiRequest,
  { bulk }: ViewDeps,
): Promise<ApiReply> {
  await bulk.remove(entrance.caller, session);
  return { type: JSON_TYPE, body: JSON.stringify({ session, deleted: true }) };
}

const PROGRESS = {
  session: EXAMPLE_ID,
  status: "processing",
  email_count: 12_000,
  processed_count: 4_500,
};

const json = (...names: readonly string[]): MediaType => ({
  schema: Type.Unsafe<unknown>({ oneOf: names.map(component) }),
  examples: { processing: { value: PROGRESS } },
});

const text = Type.String();
const parameters = [pathParameter("session", "As the bulk response names it.", EXAMPLE_ID)];
const responses: Responses = {
  ...COMMON_ERRORS,
  404: apiError("Unknown, malformed, expired, deleted or another owner's.", sessionNotFound()),
};

const reading = (
  [operationId, summary]: readonly [operationId: string, summary: string],
  description: string,
  content: Readonly<Record<string, MediaType>>,
): Operation => ({
  operationId,
  summary,
  description,
  tags: ["bulk"],
  parameters,
  responses: { ...responses, 200: { description, content } },
});

const list = reading(
  ["viewSession", "Read the valid entries of a batch, or how far it is"],
  "Plain text, one valid entry per line, once it is finished; else JSON. Look at the content type first.",
  {
    "text/plain": { schema: text, example: "ada@example.org\nexample.com" },
    "application/octet-stream": { schema: text },
    "application/json": json("Progress", "Completed"),
  },
);
const listParameters = [
  ...parameters,
  queryParameter("download", "`1`: as a file. Also as path suffix.", "1"),
  queryParameter(
    "separator",
    "`1`: all in one line, separated by commas. Also as path suffix; `separate` and `comma` are the same.",
    "1",
  ),
];
const results = reading(
  ["viewSessionJson", "Read all results of a batch"],
  "All results, streamed.",
  { "application/json": json("SessionResults", "Progress") },
);
const table = reading(
  ["viewSessionCsv", "Read all results of a batch as CSV"],
  "RFC 4180 with a header row; the columns of an upload are kept. A cell that begins like a formula gets a '.",
  { "text/csv": { schema: text }, "application/json": json("Progress") },
);
const events = reading(
  ["followSession", "Follow a batch"],
  "`progress` events with the progress object, at most one a second, the last one `completed` or `failed`.",
  {
    "text/event-stream": {
      schema: text,
      example: `event: progress\ndata: ${JSON.stringify(PROGRESS)}\n\n`,
    },
  },
);
const eventResponses: Responses = {
  ...events.responses,
  429: apiError(
    "The rate is spent, or the owner has too many open streams.",
    tooManyStreams(RESOURCES.event_streams.perOwner),
  ),
};
const removal: Operation = {
  operationId: "deleteSession",
  summary: "Cancel a job, or forget its results",
  description:
    "Entries that no worker has begun are refunded; those that DNS was asked for are not.",
  tags: ["bulk"],
  parameters,
  responses: {
    ...responses,
    200: {
      description: "The session is gone.",
      content: { "application/json": { schema: component("Removed") } },
    },
  },
};

const documentation: Paths = {
  "/api/view/{session}": { ...byGet({ ...list, parameters: listParameters }), delete: removal },
  "/api/view/{session}/json": byGet(results),
  "/api/view/{session}/csv": byGet(table),
  "/api/view/{session}/events": byGet({ ...events, responses: eventResponses }),
};
