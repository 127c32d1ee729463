import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { accountKey, type OwnerKey } from "../../base/owner.ts";
import type { RateCounter } from "../../accounts/admission/rate-counter.ts";
import type { Shares } from "../../base/shares.ts";
import type { SignInService, SignedIn, Visitor } from "../../accounts/sign-in/sign-ins.ts";
import { bucketKey, bucketOf } from "../../accounts/admission/bucket.ts";
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
import { errorBody, refusalOf } from "../answer/answer.ts";
import type { BodyReader } from "../request/body/body.ts";
import { clientAddress, type TrustedProxies } from "../request/client-address.ts";
import { type HostCheck, isAllowedFor } from "../request/allowed-hosts.ts";
import type { FaultLog } from "../answer/fault-log.ts";
import { JSON_TYPE } from "../answer/route.ts";
import type { SessionCookie } from "./cookie.ts";
import type { AccountReply, AccountRequest, AccountRoute } from "./route.ts";

export interface AccountGuardDeps {
  readonly logins: Pick<SignInService, "identify">;
  readonly rates: RateCounter;
  readonly bodies: BodyReader;
  readonly shares: Shares;
  readonly isHostAllowed: HostCheck;
  readonly cookie: SessionCookie;
  readonly trustedProxies: TrustedProxies;
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly log: Log;
  readonly faultLog: FaultLog;
}

/** Requests in a minute from one address bucket, pages' own reloading included. */
const REQUESTS_PER_MINUTE = 600;

/** Bodies of all routes but lists. */
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

/** The one chain of every `/account/*` request; answers refusals and faults in JSON itself. */
export async function serve(
  route: AccountRoute,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  deps: AccountGuardDeps,
): Promise<FastifyReply> {
  reply.headers(HEADERS);
  if (!isAllowedFor(rawOf(request), deps.isHostAllowed)) {
    return refuse(reply, hostNotAllowed(), { route, faultLog: deps.faultLog });
  }
  const release: (() => void)[] = [];
  try {
    const answer = await admit(route, request, { deps, release });
    return await send(reply, answer, deps);
  } catch (error) {
    return refuse(reply, error, { route, faultLog: deps.faultLog });
  } finally {
    for (const task of release) task();
  }
}

/** As it was sent: the framework's own target is rewritten. */
const rawOf = ({ headers, originalUrl: url }: FastifyRequest) => ({ headers, url });

interface Passage {
  readonly deps: AccountGuardDeps;
  /** What is to be done once the request is answered. */
  readonly release: (() => void)[];
}

async function admit(
  route: AccountRoute,
  request: FastifyRequest,
  passage: Passage,
): Promise<AccountReply> {
  const { deps } = passage;
  const visitor = visitorOf(request, deps);
  await countRequest(visitor, deps);
  if (route.method !== "GET") checkOrigin(request, deps.publicUrl());
  const token = deps.cookie.read(request.headers.cookie);
  const known = token === undefined ? undefined : await deps.logins.identify(token, visitor);
  checkStanding(route.for, known);
  const owner = ownerOf(known, visitor);
  const content = await contentOf(route, request, { ...passage, owner });
  const account = known?.account.isDisabled === false ? { account: known.account } : {};
  const shared = { visitor, token, ...account, ...content };
  if (route.for === "everyone") return route.handle(shared);
  if (known === undefined) throw notSignedIn();
  return route.handle({ ...shared, ...known });
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

function visitorOf(request: FastifyRequest, { trustedProxies }: AccountGuardDeps): Visitor {
  const { headers, socket } = request.raw;
  const forwarded = headers["x-forwarded-for"];
  const line = typeof forwarded === "string" ? forwarded : forwarded?.join(",");
  const address = clientAddress(socket.remoteAddress, line, trustedProxies);
  const userAgent = (headers["user-agent"] ?? "").slice(0, USER_AGENT_MAX);
  return { clientAddress: bucketOf(address).address, userAgent };
}

async function countRequest(
  { clientAddress: address }: Visitor,
  { rates, clock }: AccountGuardDeps,
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
function checkOrigin({ headers }: FastifyRequest, publicUrl: string): void {
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

type Content = Pick<AccountRequest, "body" | "query" | "id">;

function queryOf({ originalUrl }: FastifyRequest): AccountRequest["query"] {
  const query = originalUrl.split("?")[1] ?? "";
  if (query.length > QUERY_MAX_CHARACTERS) throw targetTooLong();
  return Object.fromEntries(new URLSearchParams(query));
}

async function contentOf(
  route: AccountRoute,
  request: FastifyRequest,
  { deps, release, owner }: Passage & { readonly owner: OwnerKey },
): Promise<Content> {
  const query = queryOf(request);
  const { id = "" } = request.params as { readonly id?: string }; // the path's own, see `AccountRoute`
  if (holdsNul(id)) throw notFound();
  if (holdsNul(Object.entries(query))) throw nulInText();
  if (route.method === "GET") return { body: {}, query, id };
  const most = route.largeBody === true ? Infinity : SMALL_BODY_BYTES;
  if (Number(request.headers["content-length"] ?? 0) > most) throw bodyTooLarge();
  if (request.headers["transfer-encoding"] !== undefined) throw badRequest();
  const { body, release: giveBack } = await deps.bodies.read(request.raw, { owner });
  release.push(giveBack);
  if (body.kind === "json") {
    // A check's entry and those of a list may hold anything: they are malformed then, and lists store them escaped.
    const { entry: _, entries: __, text, ...stored } = body.value as AccountRequest["body"];
    if (holdsNul(stored) || (route.path !== "lists" && holdsNul(text))) throw nulInText();
    return { body: { ...body.value }, query, id };
  }
  if (body.kind !== "none") throw unsupportedMediaType(); // a form, in either encoding, could be another site's
  return { body: {}, query, id };
}

async function send(
  reply: FastifyReply,
  answer: AccountReply,
  { cookie, log }: AccountGuardDeps,
): Promise<FastifyReply> {
  if (answer.cookie !== undefined) reply.header("set-cookie", cookie.write(answer.cookie));
  if (answer.headers !== undefined) reply.headers(answer.headers);
  if (answer.lines !== undefined) {
    const lines = await started(answer.lines); // what is refused is refused with its status
    return reply.type("application/x-ndjson").send(Readable.from(asText(lines, log)));
  }
  if (answer.text !== undefined) {
    const { type, chunks } = answer.text;
    return reply.type(type).send(Readable.from(await started(chunks)));
  }
  if (answer.json === undefined) return reply.code(204).send();
  return reply.type(JSON_TYPE).send(JSON.stringify(answer.json));
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

function refuse(
  reply: FastifyReply,
  error: unknown,
  { route, faultLog }: { readonly route: AccountRoute; readonly faultLog: FaultLog },
): FastifyReply {
  const refusal = refusalOf(error);
  if (refusal === undefined || refusal.code === "store_unavailable") {
    faultLog(error, { method: route.method, route: `/account/${route.path}` });
  }
  if (refusal === undefined) {
    return reply.code(500).type(JSON_TYPE).send(errorBody(INTERNAL_ERROR_MESSAGE));
  }
  const { code, status, message, detail, retryAfterSeconds } = refusal;
  if (code === "not_signed_in") reply.header("x-session", "none");
  if (retryAfterSeconds !== undefined) reply.header("retry-after", String(retryAfterSeconds));
  return reply.code(status).type(JSON_TYPE).send(errorBody(message, detail));
}
