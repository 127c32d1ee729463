import { Readable } from "node:stream";
import { type Audit, noteBy } from "../../accounts/audit.ts";
import { bucketKey, bucketOf } from "../../accounts/admission/caller.ts";
import {
  IDLE_MS,
  type SignedIn,
  type SignInService,
  type Visitor,
} from "../../accounts/sign-in/sign-ins.ts";
import type { Log } from "../../base/log.ts";
import { accountKey, type OwnerKey } from "../../base/owner.ts";
import {
  accountDisabled,
  adminsOnly,
  badRequest,
  bodyTooLarge,
  foreignOrigin,
  hostNotAllowed,
  INTERNAL_ERROR_MESSAGE,
  notSignedIn,
  rateExceeded,
  type Refusal,
  STORE_AWAY,
  storeUnavailable,
  targetTooLong,
  unsupportedMediaType,
} from "../../base/refusals.ts";
import { storeDownOf } from "../../base/store-down.ts";
import { errorBody, refusalOf, refused } from "../answer.ts";
import { readUploaded } from "../api/upload.ts";
import type { BodyReader } from "../body.ts";
import { addressOf, type TrustedProxies, unknownProxy } from "../client-address.ts";
import { type HostCheck, isAllowedFor } from "../hosts.ts";
import { createFaultLog } from "../request-logs.ts";
import { type HttpRequest, JSON_TYPE, type RouteReply } from "../route.ts";
import type { Page, PageRequest } from "../routes.ts";
import { basePathOf } from "../target.ts";
import type { ProxySignIn } from "./proxy-sign-in.ts";
import {
  AccountReply,
  type AccountRequest,
  type AccountRoute,
  type DashboardServices,
} from "./route.ts";
import type { RateCounter } from "../../accounts/admission/counters.ts";

export interface AccountGuardDeps extends DashboardServices {
  readonly audit: Audit;
  readonly bodies: BodyReader;
  readonly isHostAllowed: HostCheck;
  readonly log: Log;
  readonly logins: Pick<SignInService, "identify" | "remembered">;
  readonly proxySignIn: ProxySignIn;
  readonly rates: RateCounter;
  readonly trustedProxies: TrustedProxies;
}

interface Opened extends AccountGuardDeps {
  readonly cookie: ReturnType<typeof sessionCookie>;
}

/** Requests in a minute from one address bucket, pages' own reloading included. */
const REQUESTS_PER_MINUTE = 600;

const SMALL_BODY_BYTES = 65_536;

/** No other site may read, frame or keep any of it. */
const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  vary: "Cookie",
};

export function accountPages(
  routes: readonly AccountRoute[],
  deps: AccountGuardDeps,
): readonly Page[] {
  const opened = { ...deps, cookie: sessionCookie(deps.info.publicUrl()) };
  const faultLog = createFaultLog(deps.log, deps.clock);
  return routes.map((route) => {
    const { method } = route;
    const path = `/account/${route.path}`;
    return {
      method,
      path,
      handle: (request) => serve(route, request, opened),
      refused(error) {
        const refusal = namedRefusal(error);
        if (refusal === undefined || storeDownOf(error) !== undefined) {
          faultLog(error, { method, route: path });
        }
        const reply = refused(refusal ?? error, undefined);
        const session = refusal?.code === "not_signed_in" ? { "x-session": "none" } : {};
        return { ...reply, headers: { ...HEADERS, ...session, ...reply.headers } };
      },
    };
  });
}

async function serve(
  route: AccountRoute,
  { source, target, id }: PageRequest,
  deps: Opened,
): Promise<RouteReply> {
  if (!isAllowedFor(source, deps.isHostAllowed)) throw hostNotAllowed();
  const visitor = await visitorOf(route, source, deps);
  const { clientAddress } = visitor;
  if (route.method !== "GET") checkOrigin(source, deps.info.publicUrl(), deps.trustedProxies);
  const { known, claimed, started } = await whoAsks(route, source, visitor, deps);
  checkStanding(route.for, known);
  const query = readQuery(target.query);
  const owner = known === undefined ? bucketKey(clientAddress) : accountKey(known.account.id);
  const { release, ...content } = await contentOf(route, source, owner, deps);
  const isLetIn = known !== undefined && (route.for === "leaving" || !known.account.isDisabled);
  const request: AccountRequest = {
    ...content,
    id,
    query,
    visitor,
    claimed,
    known,
    ...(isLetIn && {
      ...known,
      note: noteBy(deps.audit, { actorId: known.account.id, clientAddress }),
    }),
  };
  try {
    const reply = replyOf(await route.handle(deps, request), deps);
    if (started === undefined) return reply;
    return { ...reply, headers: { ...reply.headers, "set-cookie": deps.cookie.write(started) } };
  } finally {
    release?.();
  }
}

/** By the cookie, unless a trusted proxy names somebody else: that one's session begins with the page's first request. */
async function whoAsks(route: AccountRoute, source: HttpRequest, visitor: Visitor, deps: Opened) {
  const token = deps.cookie.read(source.headers.cookie);
  const known = token === undefined ? undefined : await knownBy(token, visitor, route, deps);
  const claimed = deps.proxySignIn.emailIn(source);
  if (claimed === undefined || claimed === known?.account.email) return { known };
  // Another site's page could begin sessions without end.
  const { "sec-fetch-site": site = "same-origin" } = source.headers;
  if (route.path !== "session" || site !== "same-origin") return { claimed };
  try {
    const entered = await deps.proxySignIn.enter(claimed, visitor);
    return { claimed, known: entered, started: entered?.token };
  } catch (fault) {
    if (!isSparing(route, fault)) throw fault;
    return { claimed };
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
  return { clientAddress, userAgent: userAgent.slice(0, 1_000) };
}

/**
 * A change must come from a page of this very site. Browsers name the page's origin with every change, and
 * no page of another site can make them name ours. Two origins are ours: the public address, and the host
 * that the request itself was sent to (a proxy may have rewritten one of the two).
 */
function checkOrigin(request: HttpRequest, publicUrl: string, trusted: TrustedProxies): void {
  const { headers } = request;
  const { origin, host = "" } = headers;
  const refused = (): Refusal => foreignOrigin(unknownProxy(request, trusted));
  if (origin === undefined || !URL.canParse(origin)) throw refused();
  const from = new URL(origin).origin;
  const ours = new URL(publicUrl);
  if (from === ours.origin) return;
  // A browser says by itself what it calls the same origin; a proxy says how it was reached.
  const { "x-forwarded-proto": forwarded, "sec-fetch-site": site } = headers;
  const isSame = site === "same-origin" && from.startsWith("https:");
  const scheme = isSame
    ? "https"
    : (/^https?(?=\s*(?:,|$))/i.exec(String(forwarded))?.[0] ?? "http");
  const reached = `${scheme}://${host}`;
  // Whoever opens the public address without TLS may be somebody in between.
  const isDowngraded = ours.protocol === "https:" && host.toLowerCase() === ours.host;
  if (isDowngraded || !URL.canParse(reached) || new URL(reached).origin !== from) throw refused();
}

function readQuery(text: string): AccountRequest["query"] {
  if (text.length > 4_096) throw targetTooLong();
  return Object.fromEntries(new URLSearchParams(text));
}

async function contentOf(
  route: AccountRoute,
  source: HttpRequest,
  owner: OwnerKey,
  deps: Opened,
): Promise<Pick<AccountRequest, "body" | "file"> & { readonly release?: () => void }> {
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
    return { body: body.value, release };
  } catch (refusal) {
    release();
    throw refusal;
  }
}

function replyOf(answer: object | undefined | void, { cookie: cookies, log }: Opened): RouteReply {
  if (answer instanceof AccountReply) {
    const { cookie, text, headers: more } = answer.parts;
    const headers = {
      ...HEADERS,
      ...(cookie !== undefined && { "set-cookie": cookies.write(cookie) }),
      ...more,
    };
    if (text === undefined) return { headers, status: 204 };
    return { headers, type: text.type, body: Readable.from(text.chunks) };
  }
  if (answer === undefined) return { headers: HEADERS, status: 204 };
  if (Symbol.asyncIterator in answer) {
    const body = Readable.from(asText(answer as AsyncIterable<unknown>, log));
    return { headers: HEADERS, type: "application/x-ndjson", body };
  }
  return { headers: HEADERS, type: JSON_TYPE, body: JSON.stringify(answer) };
}

async function* asText(values: AsyncIterable<unknown>, log: Log): AsyncGenerator<string> {
  let isBegun = false;
  try {
    for await (const value of values) {
      isBegun = true;
      yield `${JSON.stringify(value)}\n`;
    }
  } catch (fault) {
    if (!isBegun) throw fault;
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

/**
 * Behind TLS the `__Host-` prefix makes browsers hold it to Secure, this host and the whole path, and `__Secure-`, for a
 * public URL with a path, to Secure. Over plain HTTP, as on a loopback address, they would refuse such a name.
 */
export function sessionCookie(publicUrl: string) {
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
    /** The value of Set-Cookie; an empty token takes the cookie away. */
    write(token: string) {
      const seconds = token === "" ? 0 : Math.floor(IDLE_MS / 1_000);
      return `${name}=${token}; Max-Age=${String(seconds)}; ${attributes}`;
    },
  };
}
