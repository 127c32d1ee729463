import type { Readable } from "node:stream";
import { ownerKey } from "../../base/owner.ts";
import {
  missingParameter,
  notFound,
  sessionNotFound,
  tooManyStreams,
} from "../../base/refusals.ts";
import { RESOURCES } from "../../base/resources.ts";
import type { BulkService } from "../../bulk/submit.ts";
import type { Caller } from "../../accounts/admission/caller.ts";
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

interface ViewDeps extends EventStreamDeps {
  readonly bulk: Pick<BulkService, "view" | "results" | "progress" | "remove">;
}

/** What may stand behind the session, and what it means. */
const SUFFIXES = {
  download: "download",
  separator: "separator",
  separate: "separator",
  comma: "separator",
  json: "json",
  csv: "csv",
  events: "events",
} as const;
type Suffix = (typeof SUFFIXES)[keyof typeof SUFFIXES];

const FORMS = ["json", "csv", "events"] as const;

/** `/api/view/{session}[/{suffix}...]`: valid entries, state, results, events and removal of a batch. */
export function viewRoute(deps: ViewDeps): Route {
  const streams = new EventStreams(deps);
  return {
    family: "view",
    methods: ["GET", "POST", "DELETE"],
    body: "params",
    parameters: new Set(["session", "bom", ...Object.keys(SUFFIXES)]),
    charges: "nothing",
    documentation,
    isBulk: () => true,
    async handle(request) {
      const { path, params, method, entrance } = request;
      const { caller } = entrance;
      const session = path[0] ?? params.text("session") ?? "";
      if (session === "") throw missingParameter("session");
      const asked = suffixesOf(request);
      const [form, ...more] = FORMS.filter((name) => asked.has(name));
      if (more.length > 0 || (method === "DELETE" && asked.size > 0)) throw notFound();
      if (method === "DELETE") {
        await deps.bulk.remove(caller, session);
        return inJson({ session, deleted: true });
      }
      if (form === undefined) return listReply(session, asked, caller, deps);
      if (form !== "events") return resultsReply({ session, asked, form }, request, deps);
      const body = await streams.open(caller, () => deps.bulk.progress(caller, session));
      // nginx would otherwise hold events back until a buffer is full.
      const headers = { "x-accel-buffering": "no" };
      return { type: "text/event-stream; charset=utf-8", body, headers };
    },
    stop: () => streams.stop(),
  };
}

function suffixesOf({ path, params }: ApiRequest): ReadonlySet<Suffix> {
  const known = new Map<string, Suffix>(Object.entries(SUFFIXES));
  const asked = new Set<Suffix>();
  for (const segment of path.slice(1)) {
    const suffix = known.get(segment.toLowerCase());
    if (suffix === undefined) throw notFound();
    asked.add(suffix);
  }
  for (const [name, suffix] of known) if (params.flag(name)) asked.add(suffix);
  // Clients of old say which separator they want, "," or "new-line", instead of whether.
  if (/^(?:,|comma)$/i.test(params.text("separator") ?? "")) asked.add("separator");
  return asked;
}

const inJson = (value: object): ApiReply => ({ type: JSON_TYPE, body: JSON.stringify(value) });

async function listReply(
  session: string,
  asked: ReadonlySet<Suffix>,
  caller: Caller,
  deps: ViewDeps,
): Promise<ApiReply> {
  const view = await deps.bulk.view(caller, session);
  if (view.kind === "progress") return inJson(view.progress);
  if (view.kind === "summary") return inJson(view.summary);
  const between = asked.has("separator") ? "," : "\n";
  const texts = framed(view.valid(), (entry) => entry, { head: "", between, tail: "" });
  const body = sharedStream(texts, caller, deps);
  if (!asked.has("download")) return { type: "text/plain; charset=utf-8", body };
  // "inline" with a filename is the published contract, not a slip for "attachment".
  const headers = { "content-disposition": 'inline; filename="valid_list.txt"' };
  return { type: "application/octet-stream", body, headers };
}

interface Results {
  readonly session: string;
  readonly asked: ReadonlySet<Suffix>;
  readonly form: "json" | "csv";
}

async function resultsReply(
  { session, asked, form }: Results,
  { entrance: { caller }, params }: ApiRequest,
  deps: ViewDeps,
): Promise<ApiReply> {
  const found = await deps.bulk.results(caller, session);
  if (found.kind === "progress") return inJson(found.progress);
  const type = form === "csv" ? "text/csv; charset=utf-8" : JSON_TYPE;
  const texts = form === "csv" ? resultsCsv(found, params.flag("bom")) : resultsJson(found);
  const body = sharedStream(texts, caller, deps);
  if (!asked.has("download")) return { type, body };
  const headers = { "content-disposition": `attachment; filename="results.${form}"` };
  return { type, body, headers };
}

/** A body that counts among its owner's until it is read or given up. */
function sharedStream(
  texts: AsyncGenerator<string>,
  caller: Caller,
  { log, shares }: ViewDeps,
): Readable {
  const hold = shares.of("view_streams").take(ownerKey(caller.owner));
  return streamed(texts, log).once("close", () => hold.release());
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
