import { Readable } from "node:stream";
import type { Log } from "../../base/log.ts";
import { storeDownOf } from "../../base/store-down.ts";
import { accountKey, type OwnerKey } from "../../base/owner.ts";
import { IDLE_MS, type SignedIn, type Visitor } from "../../accounts/sign-in/sign-ins.ts";
import { noteBy } from "../../accounts/audit.ts";
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
  type Refusal,
  STORE_AWAY,
  storeUnavailable,
  targetTooLong,
  unsupportedMediaType,
} from "../../base/refusals.ts";
import { readUploaded } from "../api/upload.ts";
import { errorBody, refusalOf, refused } from "../answer.ts";
import type { BodyReader } from "../body.ts";
import { addressOf } from "../client-address.ts";
import { isAllowedFor } from "../hosts.ts";
import type { FaultLog } from "../request-logs.ts";
import { type HttpRequest, JSON_TYPE, type RouteReply } from "../route.ts";
import type { Page, PageRequest } from "../routes.ts";
import type {
  AccountContext,
  AccountRequest,
  DashboardContext,
  SignedInRequest,
} from "./context.ts";
import type { AccountReply, AccountRoute } from "./route.ts";
import { basePathOf } from "../target.ts";

interface AccountGuardDeps extends DashboardContext {
  readonly bodies: BodyReader;
  readonly context: AccountContext;
  readonly cookie: SessionCookie;
  readonly faultLog: FaultLog;
}

/** Requests in a minute from one address bucket, pages' own reloading included. */
const REQUESTS_PER_MINUTE = 600;

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

export const accountPages = (
  routes: readonly AccountRoute[],
  deps: AccountGuardDeps,
): readonly Page[] =>
  routes.map((route) => ({
    method: route.method,
    path: `/account/${route.path}`,
    handle: (request) => serve(route, request, deps),
  }));

/** The one chain of every `/account/*` request; answers refusals and faults in JSON itself. */
async function serve(
  route: AccountRoute,
  { source, target: { query }, id }: PageRequest,
  deps: AccountGuardDeps,
): Promise<RouteReply> {
  let content: Content | undefined;
  try {
    if (!isAllowedFor(source, deps.isHostAllowed)) throw hostNotAllowed();
    const visitor = await visitorOf(route, source, deps);
    if (route.method !== "GET") checkOrigin(source, deps.info.publicUrl());
    const { token, known, claimed, started } = await whoAsks(route, source, visitor, deps);
    checkStanding(route.for, known);
    const named = { id, query: readQuery(id, query), visitor, token, claimed };
    const { clientAddress } = visitor;
    content = await contentOf(
      route,
      source,
      known === undefined ? bucketKey(clientAddress) : accountKey(known.account.id),
      deps,
    );
    const { body, file } = content;
    const request: AccountRequest = {
      ...named,
      body,
      known,
      ...(file !== undefined && { file }),
      ...(known?.account.isDisabled === false && { account: known.account }),
    };
    if (known === undefined || route.for === "everyone") {
      const reply = await replyOf(await route.handle(request, deps.context), route, deps);
      if (started === undefined) return reply;
      return { ...reply, headers: { ...reply.headers, "set-cookie": deps.cookie.write(started) } };
    }
    const note = noteBy(deps.audit, { actorId: known.account.id, clientAddress });
    const signedIn: SignedInRequest = { ...request, ...known, note };
    return await replyOf(await route.handle(signedIn, deps.context), route, deps);
  } catch (error) {
    return refusedReply(error, route, deps);
  } finally {
    content?.release?.();
  }
}

interface AccountAsker extends Pick<AccountRequest, "token" | "known" | "claimed"> {
  /** The token of a session that began with this request. */
  readonly started?: string | undefined;
}

/** By the cookie, unless a trusted proxy names somebody else: that one's session begins with the page's first request. */
async function whoAsks(
  route: AccountRoute,
  source: HttpRequest,
  visitor: Visitor,
  deps: AccountGuardDeps,
): Promise<AccountAsker> {
  const token = deps.cookie.read(source.headers.cookie);
  const known = token === undefined ? undefined : await knownBy(token, visitor, route, deps);
  const claimed = deps.proxySignIn.emailIn(source);
  if (claimed === undefined || claimed === known?.account.email) return { token, known };
  // Another site's page could begin sessions without end.
  const { "sec-fetch-site": site = "same-origin" } = source.headers;
  if (route.path !== "session" || site !== "same-origin") return { token, claimed };
  try {
    const entered = await deps.proxySignIn.enter(claimed, visitor);
    return { token, claimed, known: entered, started: entered?.token };
  } catch (fault) {
    if (!isSparing(route, fault)) throw fault;
    return { token, claimed };
  }
}

/** Asks the store; while it is away, the few routes that can do without it believe what it said lately. */
async function knownBy(
  token: string,
  visitor: Visitor,
  route: AccountRoute,
  { logins }: AccountGuardDeps,
): Promise<SignedIn | undefined> {
  try {
    return await logins.identify(token, visitor);
  } catch (fault) {
    const known = isSparing(route, fault) ? logins.remembered(token) : undefined;
    if (known === undefined) throw fault;
    return known;
  }
}

const isSparing = ({ withoutStore }: AccountRoute, fault: unknown): boolean =>
  withoutStore === true && storeDownOf(fault) !== undefined;

function checkStanding(needed: AccountRoute["for"], who: SignedIn | undefined): void {
  if (needed === "everyone") return;
  if (who === undefined) throw notSignedIn();
  if (who.account.isDisabled && needed !== "leaving") throw accountDisabled();
  if (needed === "admin" && !who.account.isAdmin) throw adminsOnly();
}

async function visitorOf(
  route: AccountRoute,
  request: HttpRequest,
  deps: AccountGuardDeps,
): Promise<Visitor> {
  const { address: clientAddress, bucket } = bucketOf(addressOf(request, deps));
  const nowMs = deps.clock.monotonicMs();
  try {
    const taking = await deps.rates.take(`dashboard:${bucket}`, REQUESTS_PER_MINUTE, nowMs);
    if (!taking.isGranted) throw rateExceeded(taking.closesInMs);
  } catch (fault) {
    if (!isSparing(route, fault)) throw fault;
  }
  const { "user-agent": userAgent = "" } = request.headers;
  return { clientAddress, userAgent: userAgent.slice(0, USER_AGENT_MAX) };
}

/**
 * A change must come from a page of this very site. Browsers name the page's origin with every change, and
 * no page of another site can make them name ours. Two origins are ours: the public address, and the host
 * that the request itself was sent to (a proxy may have rewritten one of the two).
 */
function checkOrigin({ headers }: HttpRequest, publicUrl: string): void {
  const { origin, host = "" } = headers;
  if (origin === undefined || !URL.canParse(origin)) throw foreignOrigin();
  const from = new URL(origin).origin;
  const ours = new URL(publicUrl);
  if (from === ours.origin) return;
  // A browser says by itself what it calls the same origin; a proxy says how it was reached.
  const { "x-forwarded-proto": forwarded, "sec-fetch-site": site } = headers;
  const isSame = site === "same-origin" && from.startsWith("https:");
  const scheme = isSame
    ? "https"
    : (/^https?(?=\s*(?:,|$))/i.exec(String(forwarded))?.[0] ?? "http");
  const asked = `${scheme}://${host}`;
  // Whoever opens the public address without TLS may be somebody in between.
  const isDowngraded = ours.protocol === "https:" && host.toLowerCase() === ours.host;
  if (isDowngraded || !URL.canParse(asked) || new URL(asked).origin !== from) throw foreignOrigin();
}

/** Looked for at this one door: the embedded store cuts text at NUL, and PostgreSQL refuses it. */
function holdsNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => name.includes("\0") || holdsNul(inner));
}

function readQuery(id: string, text: string): AccountRequest["query"] {
  if (text.length > QUERY_MAX_CHARACTERS) throw targetTooLong();
  const query = Object.fromEntries(new URLSearchParams(text));
  if (holdsNul(id)) throw notFound();
  if (holdsNul(query)) throw nulInText();
  return query;
}

interface Content extends Pick<AccountRequest, "body" | "file"> {
  /** To be called once the request is answered. */
  readonly release?: () => void;
}

async function contentOf(
  route: AccountRoute,
  source: HttpRequest,
  owner: OwnerKey,
  deps: AccountGuardDeps,
): Promise<Content> {
  if (route.method === "GET") return { body: {} };
  if (route.upload === true)
    return { body: {}, ...(await readUploaded(source, owner, deps.bodies)) };
  const most = route.largeBody === true ? Infinity : SMALL_BODY_BYTES;
  if (Number(source.headers["content-length"] ?? 0) > most) throw bodyTooLarge();
  if (source.headers["transfer-encoding"] !== undefined) throw badRequest();
  const { body, release } = await deps.bodies.read(source, { owner });
  try {
    if (body.kind === "none") return { body: {}, release };
    // A form, in either encoding, could be another site's.
    if (body.kind !== "json") throw unsupportedMediaType();
    // A check's entry may hold anything: it is malformed then, and never stored as it is.
    const { entry: _, entries: __, ...stored } = body.value as Readonly<Record<string, unknown>>;
    if (holdsNul(stored)) throw nulInText();
    return { body: body.value, release };
  } catch (refusal) {
    release();
    throw refusal;
  }
}

async function replyOf(
  answer: unknown,
  route: AccountRoute,
  { cookie: cookies, log }: AccountGuardDeps,
): Promise<RouteReply> {
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
    const refusal = namedRefusal(fault);
    if (refusal === undefined) log.error("http.stream_failed", fault);
    yield `${errorBody(refusal?.message ?? INTERNAL_ERROR_MESSAGE)}\n`;
  }
}

/** The refusal that a thrown value is: one for the database says so. */
function namedRefusal(error: unknown): Refusal | undefined {
  const refusal = refusalOf(error);
  return refusal?.code === "store_unavailable"
    ? storeUnavailable(refusal.retryAfterSeconds, STORE_AWAY)
    : refusal;
}

function refusedReply(
  error: unknown,
  route: AccountRoute,
  { faultLog }: AccountGuardDeps,
): RouteReply {
  const refusal = namedRefusal(error);
  if (refusal === undefined || storeDownOf(error) !== undefined) {
    faultLog(error, { method: route.method, route: `/account/${route.path}` });
  }
  const reply = refused(refusal ?? error, undefined);
  const session = refusal?.code === "not_signed_in" ? { "x-session": "none" } : {};
  return { ...reply, headers: { ...HEADERS, ...session, ...reply.headers } };
}

export interface SessionCookie {
  readonly read: (header?: string) => string | undefined;
  /** The value of Set-Cookie; an empty token takes the cookie away. */
  readonly write: (token: string) => string;
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
    read(header = "") {
      const pair = header.split(";").find((part) => part.trim().startsWith(`${name}=`));
      return pair?.trim().slice(name.length + 1);
    },
    write(token) {
      const seconds = token === "" ? 0 : Math.floor(IDLE_MS / 1_000);
      return `${name}=${token}; Max-Age=${String(seconds)}; ${attributes}`;
    },
  };
}
