import type { Readable } from "node:stream";
import { ownerKey } from "../../../base/owner.ts";
import type { BulkProgress, BulkService, CompletedSummary } from "../../../bulk/bulk.ts";
import { missingParameter, notFound } from "../../../base/refusals.ts";
import { type EventStreamDeps, EventStreams } from "../../answer/event-streams.ts";
import { resultsCsv, resultsJson } from "../../answer/results-text.ts";
import { type ApiReply, type ApiRequest, JSON_TYPE, type Route } from "../../answer/route.ts";
import { framed, streamed } from "../../answer/streamed.ts";
import { viewDocumentation } from "./view-documentation.ts";

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

/** What is asked for, of a request: one way to answer and how to hand it over. */
interface Asked {
  readonly session: string;
  readonly form: "list" | "json" | "csv" | "events";
  readonly isDownload: boolean;
  /** The CSV begins with a byte order mark, for Excel. */
  readonly hasMark: boolean;
  /** All entries in one line. */
  readonly isOneLine: boolean;
}

/**
 * `/api/view/{session}[/{suffix}...]`: the valid entries of a finished batch, how far an unfinished one is, and
 * beyond that its results, its progress as events, and its removal.
 */
export function viewRoute(deps: ViewDeps): Route {
  const streams = new EventStreams(deps);
  return {
    family: "view",
    methods: ["GET", "POST", "DELETE"],
    body: "params",
    parameters: new Set(["session", "bom", ...SUFFIXES.keys()]),
    charges: "nothing",
    documentation: viewDocumentation,
    isBulk: () => true,
    handle(request) {
      const asked = readAsked(request);
      const { caller } = request.entrance;
      if (request.method === "DELETE") return remove(asked, request, deps);
      if (asked.form === "list") return list(asked, request, deps);
      if (asked.form !== "events") return results(asked, request, deps);
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

async function list(
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

async function results(
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
