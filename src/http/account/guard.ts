import { Readable } from "node:stream";
import type { Log } from "../../base/log.ts";
import { accountKey, type OwnerKey } from "../../base/owner.ts";
import { IDLE_MS, type SignedIn, type Visitor } from "../../accounts/sign-in/sign-ins.ts";
import { noteBy } from "../../gate/audited.ts";
import { bucketKey, bucketOf } from "../../accounts/admission/caller.ts";
import {
  accountDisabled,
  adminsOnly,
  badRequest,
  bodyTooLarge,
  foreignOrigin,
  hostNotAllowed,
  INTERNAL_ERROR_MESSAGE,
  notFound,
  notSignedIn,
  nulInText,
  rateExceeded,
  Refusal,
  targetTooLong,
  unsupportedMediaType,
} from "../../base/refusals.ts";
import type { MultipartReader } from "../api/multipart.ts";
import { errorBody, refusalOf, refused } from "../answer.ts";
import type { BodyReader } from "../body.ts";
import { addressOf } from "../client-address.ts";
import { isAllowedFor } from "../hosts.ts";
import { basePathOf } from "../target.ts";
import type { FaultLog } from "../request-logs.ts";
import { type HttpRequest, JSON_TYPE, type Reply } from "../route.ts";
import type { Page, PageRequest } from "../routes.ts";
import type { DashboardContext } from "./context.ts";
import type { AccountReply, AccountRequest, AccountRoute, SignedInRequest } from "./route.ts";

/** The context, and what the guard alone uses. */
interface Deps extends DashboardContext {
  readonly bodies: BodyReader;
  readonly readUpload: MultipartReader;
  readonly cookie: SessionCookie;
  readonly faultLog: FaultLog;
}

/** Requests in a minute from one address bucket, pages' own reloading included. */
const REQUESTS_PER_MINUTE = 600;

/** Bodies of most routes. */
const SMALL_BODY_BYTES = 65_536;

const QUERY_MAX_CHARACTERS = 4_096;
const USER_AGENT_MAX = 1_000;

/** No other site may read, frame or keep any of it. */
const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  vary: "Cookie",
};

/** Every path under `/account/`. */
export const accountPages = (routes: readonly AccountRoute[], deps: Deps): readonly Page[] =>
  routes.map((route) => ({
    method: route.method,
    path: `/account/${route.path}`,
    handle: (request) => serve(route, request, deps),
  }));

/** The one chain of every `/account/*` request; answers refusals and faults in JSON itself. */
async function serve(route: AccountRoute, request: PageRequest, deps: Deps): Promise<Reply> {
  const release: (() => void)[] = [];
  try {
    if (!isAllowedFor(request.source, deps.isHostAllowed)) throw hostNotAllowed();
    return await replyOf(await admit(route, request, { deps, release }), route, deps);
  } catch (error) {
    return refusedReply(error, { route, faultLog: deps.faultLog });
  } finally {
    for (const task of release) task();
  }
}

interface Passage {
  readonly deps: Deps;
  /** What is to be done once the request is answered. */
  readonly release: (() => void)[];
}

async function admit(
  route: AccountRoute,
  request: PageRequest,
  passage: Passage,
): Promise<unknown> {
  const { deps } = passage;
  const { source } = request;
  const visitor = visitorOf(source, deps);
  await countRequest(visitor, deps);
  if (route.method !== "GET") checkOrigin(source, deps.info.publicUrl());
  const token = deps.cookie.read(source.headers.cookie);
  const known = token === undefined ? undefined : await deps.logins.identify(token, visitor);
  checkStanding(route.for, known);
  const owner = ownerOf(known, visitor);
  const content = await contentOf(route, request, { ...passage, owner });
  const account = known?.account.isDisabled === false ? { account: known.account } : {};
  const shared = { visitor, token, ...account, ...content };
  if (known === undefined || route.for === "everyone") return await route.handle(shared);
  const { clientAddress } = visitor;
  const note = noteBy(deps.audit, { actorId: known.account.id, clientAddress });
  const signedIn: SignedInRequest = { ...shared, ...known, note };
  return await route.handle(signedIn);
}

const ownerOf = (known: SignedIn | undefined, { clientAddress }: Visitor): OwnerKey =>
  known === undefined ? bucketKey(clientAddress) : accountKey(known.account.id);

/** Throws the `Refusal` of a route that is not for `who`. */
function checkStanding(needed: AccountRoute["for"], who: SignedIn | undefined): void {
  if (needed === "everyone") return;
  if (who === undefined) throw notSignedIn();
  if (who.account.isDisabled && needed !== "leaving") throw accountDisabled();
  if (needed === "admin" && !who.account.isAdmin) throw adminsOnly();
}

function visitorOf(request: HttpRequest, deps: Deps): Visitor {
  const userAgent = (request.headers["user-agent"] ?? "").slice(0, USER_AGENT_MAX);
  return { clientAddress: bucketOf(addressOf(request, deps)).address, userAgent };
}

async function countRequest(
  { clientAddress: address }: Visitor,
  { rates, clock }: Deps,
): Promise<void> {
  const owner = `dashboard:${bucketOf(address).bucket}`;
  const taking = await rates.take(owner, REQUESTS_PER_MINUTE, clock.monotonicMs());
  if (!taking.isGranted) throw rateExceeded(taking.closesInMs);
}

/**
 * A change must come from a page of this very site. Browsers name the page's origin with every change, and
 * no page of another site can make them name ours. Two origins are ours: the public address, and the host
 * that the request itself was sent to (a proxy may have rewritten one of the two).
 */
function checkOrigin({ headers }: HttpRequest, publicUrl: string): void {
  const { origin, host } = headers;
  if (origin === undefined || !URL.canParse(origin)) throw foreignOrigin();
  const from = new URL(origin);
  if (from.origin !== new URL(publicUrl).origin && from.host !== host) throw foreignOrigin();
}

/** Looked for at this one door: the embedded store cuts text at NUL, and PostgreSQL refuses it. */
function holdsNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => name.includes("\0") || holdsNul(inner));
}

type Content = Pick<AccountRequest, "body" | "query" | "id" | "file">;

function queryOf({ target: { query } }: PageRequest): AccountRequest["query"] {
  if (query.length > QUERY_MAX_CHARACTERS) throw targetTooLong();
  return Object.fromEntries(new URLSearchParams(query));
}

async function contentOf(
  route: AccountRoute,
  request: PageRequest,
  { deps, release, owner }: Passage & { readonly owner: OwnerKey },
): Promise<Content> {
  const query = queryOf(request);
  const { id, source } = request;
  if (holdsNul(id)) throw notFound();
  if (holdsNul(Object.entries(query))) throw nulInText();
  if (route.method === "GET") return { body: {}, query, id };
  if (route.upload === true) {
    const { file, release: giveBack } = await deps.readUpload(source, owner);
    release.push(giveBack);
    return { body: {}, query, id, file };
  }
  const most = route.largeBody === true ? Infinity : SMALL_BODY_BYTES;
  if (Number(source.headers["content-length"] ?? 0) > most) throw bodyTooLarge();
  if (source.headers["transfer-encoding"] !== undefined) throw badRequest();
  const { body, release: giveBack } = await deps.bodies.read(source, { owner });
  release.push(giveBack);
  if (body.kind === "json") {
    // A check's entry may hold anything: it is malformed then, and never stored as it is.
    const { entry: _, entries: __, ...stored } = body.value as Readonly<Record<string, unknown>>;
    if (holdsNul(stored)) throw nulInText();
    return { body: { ...body.value }, query, id };
  }
  if (body.kind !== "none") throw unsupportedMediaType(); // a form, in either encoding, could be another site's
  return { body: {}, query, id };
}

async function replyOf(
  answer: unknown,
  route: AccountRoute,
  { cookie: cookies, log }: Deps,
): Promise<Reply> {
  if (route.lines !== undefined) {
    // What is refused is refused with its status.
    const lines = await started(answer as AsyncIterable<unknown>);
    return {
      headers: HEADERS,
      type: "application/x-ndjson",
      body: Readable.from(asText(lines, log)),
    };
  }
  if (route.answer !== undefined) {
    if (answer === undefined) return { headers: HEADERS, status: 204 };
    return { headers: HEADERS, type: JSON_TYPE, body: JSON.stringify(answer) };
  }
  const { cookie, text, headers: more } = (answer ?? {}) as AccountReply;
  const headers = {
    ...HEADERS,
    ...(cookie !== undefined && { "set-cookie": cookies.write(cookie) }),
    ...more,
  };
  if (text === undefined) return { headers, status: 204 };
  return { headers, type: text.type, body: Readable.from(await started(text.chunks)) };
}

/** The same values, the first of which is there. */
async function started<T>(values: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const iterator = values[Symbol.asyncIterator]();
  const first = await iterator.next();
  return (async function* again() {
    try {
      for (let at = first; at.done !== true; at = await iterator.next()) yield at.value;
    } finally {
      await iterator.return?.();
    }
  })();
}

async function* asText(values: AsyncIterable<unknown>, log: Log): AsyncGenerator<string> {
  try {
    for await (const value of values) yield `${JSON.stringify(value)}\n`;
  } catch (fault) {
    if (!(fault instanceof Refusal)) log.error("http.stream_failed", fault);
    yield `${errorBody(fault instanceof Refusal ? fault.message : INTERNAL_ERROR_MESSAGE)}\n`;
  }
}

function refusedReply(
  error: unknown,
  { route, faultLog }: { readonly route: AccountRoute; readonly faultLog: FaultLog },
): Reply {
  const refusal = refusalOf(error);
  if (refusal === undefined || refusal.code === "store_unavailable") {
    faultLog(error, { method: route.method, route: `/account/${route.path}` });
  }
  const reply = refused(error, undefined);
  const session = refusal?.code === "not_signed_in" ? { "x-session": "none" } : {};
  return { ...reply, headers: { ...HEADERS, ...session, ...reply.headers } };
}

/** How the session cookie is written: by the scheme of the public address. */
export interface SessionCookie {
  read(header: string | undefined): string | undefined;
  /** The value of Set-Cookie; an empty token takes the cookie away. */
  write(token: string): string;
}

/**
 * Behind TLS the `__Host-` prefix makes browsers hold it to Secure, this host and the whole path, and `__Secure-`, for a
 * public URL with a path, to Secure. Over plain HTTP, as on a loopback address, they would refuse such a name.
 */
export function sessionCookie(publicUrl: string): SessionCookie {
  const isSecure = publicUrl.startsWith("https:");
  const path = basePathOf(publicUrl) || "/";
  const prefix = path === "/" ? "__Host-" : "__Secure-";
  const name = isSecure ? `${prefix}gatepost_session` : "gatepost_session";
  const attributes = `Path=${path}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  return {
    read: (header) => valueOf(name, header ?? ""),
    write: (token) => {
      const seconds = token === "" ? 0 : Math.floor(IDLE_MS / 1_000);
      return `${name}=${token}; Max-Age=${String(seconds)}; ${attributes}`;
    },
  };
}

function valueOf(name: string, header: string): string | undefined {
  const pair = header.split(";").find((part) => part.trim().startsWith(`${name}=`));
  return pair?.trim().slice(name.length + 1);
}
