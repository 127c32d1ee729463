import type { Awaitable } from "../core/mail/lookup.ts";
import type { Log } from "../base/log.ts";
import { methodNotAllowed, notFound } from "../base/refusals.ts";
import { begun, endOfIteration, isStream, refused, write } from "./answer.ts";
import type { HttpRequest, HttpResponse, RouteReply } from "./route.ts";
import type { Guard } from "./guard.ts";
import { atCompatHost, type CompatHosts } from "./hosts.ts";
import { decodeSegment, isApiPath, readTarget, type RequestTarget } from "./target.ts";

export interface PageRequest {
  readonly source: HttpRequest;
  readonly response: HttpResponse;
  readonly target: RequestTarget;
  readonly id: string;
}

/** One path outside `/api`. HEAD is answered where GET is. */
export interface Page {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** Throws a `Refusal` to refuse; anything else it throws is a fault. Undefined: it writes the answer itself. */
  readonly handle: (request: PageRequest) => Awaitable<RouteReply | undefined>;
  /** Answers a refusal or fault in its own way, and logs the fault. */
  readonly refused?: (error: unknown) => RouteReply;
}

interface ServeTerms {
  readonly guard: Guard | undefined;
  readonly pages: readonly Page[];
  /** Answers a GET of a path that no page has; undefined: 404. */
  readonly absent?: (request: PageRequest) => RouteReply | undefined;
  readonly basePath: string;
  readonly compatHosts: CompatHosts;
  /** The public URL is https: browsers are told to stay with it (RFC 6797). */
  readonly isSecure: boolean;
  readonly log: Log;
}

const ID_MAX_CHARACTERS = 100;

export function createServe(terms: ServeTerms) {
  const { guard, compatHosts, basePath, isSecure } = terms;
  const served = { ...terms, table: tableOf(terms.pages) };
  return (request: HttpRequest, response: HttpResponse): void => {
    const below = belowBase(readTarget(request.url ?? "/"), basePath);
    const target = atCompatHost(below, request.headers.host, compatHosts);
    if (isSecure) response.setHeader("strict-transport-security", "max-age=31536000");
    if (guard !== undefined && isApiPath(target.path)) guard(request, response, target);
    else void answerPage({ source: request, response, target, id: "" }, served);
  };
}

/** A proxy may pass the path of the public URL on, or strip it. */
function belowBase(target: RequestTarget, basePath: string): RequestTarget {
  const { path } = target;
  if (basePath === "" || !path.startsWith(basePath)) return target;
  const rest = path.slice(basePath.length);
  if (rest === "") return { ...target, path: "/" };
  return rest.startsWith("/") ? { ...target, path: rest } : target;
}

type PageTable = ReadonlyMap<string, ReadonlyMap<string, Page>>;

function tableOf(pages: readonly Page[]): PageTable {
  const table = new Map<string, Map<string, Page>>();
  for (const page of pages) {
    const methods = table.get(page.path) ?? new Map<string, Page>();
    table.set(page.path, methods.set(page.method, page));
  }
  return table;
}

interface FoundPage {
  readonly methods: ReadonlyMap<string, Page>;
  readonly id: string;
}

/** A path itself, else one with ":id" in place of a segment. */
function find(table: PageTable, path: string): FoundPage | undefined {
  const methods = table.get(path);
  if (methods !== undefined) return { methods, id: "" };
  const segments = path.split("/", 8);
  for (let at = segments.length - 1; at > 0; at -= 1) {
    const segment = segments[at] ?? "";
    if (segment === "" || segment.length > 3 * ID_MAX_CHARACTERS) continue;
    const known = table.get(segments.with(at, ":id").join("/"));
    const id = decodeSegment(segment);
    if (known !== undefined && id.length <= ID_MAX_CHARACTERS) return { methods: known, id };
  }
  return undefined;
}

async function answerPage(
  request: PageRequest,
  terms: ServeTerms & { readonly table: PageTable },
): Promise<void> {
  const { response, source, target } = request;
  const method = source.method === "HEAD" ? "GET" : (source.method ?? "");
  const found = find(terms.table, target.path);
  const page = found?.methods.get(method);
  try {
    const reply =
      page === undefined
        ? replyWithoutPage(found, request, terms)
        : await page.handle({ ...request, id: found?.id ?? "" });
    if (reply === undefined) return;
    if (isStream(reply.body)) await begun(reply.body, response);
    await endOfIteration();
    write(response, reply);
  } catch (error) {
    const reply = page?.refused?.(error) ?? refusedPage(error, source, terms);
    if (response.headersSent) response.destroy();
    else write(response, reply);
  }
}

function refusedPage(error: unknown, { method }: HttpRequest, { log }: ServeTerms): RouteReply {
  const reply = refused(error, undefined);
  if (reply.status === 500) log.error("http.page_failed", error, { method });
  return reply;
}

function replyWithoutPage(
  found: FoundPage | undefined,
  request: PageRequest,
  { absent }: ServeTerms,
): RouteReply {
  if (found === undefined) {
    const isRead = request.source.method === "GET" || request.source.method === "HEAD";
    const reply = isRead ? absent?.(request) : undefined;
    if (reply === undefined) throw notFound();
    return reply;
  }
  const names = [...found.methods.keys()];
  const allowed = names.flatMap((each) => (each === "GET" ? ["GET", "HEAD"] : each));
  const reply = refused(methodNotAllowed(), undefined);
  return { ...reply, headers: { ...reply.headers, allow: allowed.join(", ") } };
}
