import type { Admission, Admitted, Receipt } from "../accounts/admission/admission.ts";
import { bucketKey, type Credentials } from "../accounts/admission/caller.ts";
import type { UsageRecorder } from "../accounts/admission/usage-recorder.ts";
import { type Clock, inTime } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { HttpMetrics } from "../base/metrics.ts";
import { ownerKey } from "../base/owner.ts";
import {
  decideBodyTooLarge,
  methodNotAllowed,
  notFound,
  publishableKeyElsewhere,
  Refusal,
  targetTooLong,
} from "../base/refusals.ts";
import { SMALL_BODY_OCTETS } from "../base/resources.ts";
import { storeDownOf } from "../base/store-down.ts";
import { forBulk } from "../bulk/bulk.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import { begun, endOfIteration, NOTICE, preflight, refusalOf, refused, send } from "./answer.ts";
import { BODY_MAX_BYTES, type BodyReader } from "./body.ts";
import { addressOf, credentialsOf, type TrustedProxies } from "./client-address.ts";
import { NO_PARAMS, Params } from "./params.ts";
import { type AccessLog, createAccessLog, createFaultLog, type FaultLog } from "./request-logs.ts";
import type { ApiReply, ApiRequest, HttpRequest, HttpResponse, Method, Route } from "./route.ts";
import { decodeSegment, type RequestTarget } from "./target.ts";

export interface GuardTerms {
  readonly admission: Admission;
  readonly bodies: BodyReader;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: HttpMetrics;
  readonly usage: Pick<UsageRecorder, "record">;
  readonly settings: {
    readonly trustedProxies: TrustedProxies;
    readonly accessLogLinesPerSecond: number;
  };
}

interface GuardDeps extends GuardTerms {
  readonly accessLog: AccessLog;
  readonly faultLog: FaultLog;
}

/** Answers one request under `/api` or `/compat`. Never throws. */
export type Guard = (request: HttpRequest, response: HttpResponse, target: RequestTarget) => void;

class RequestState {
  readonly request: HttpRequest;
  readonly target: RequestTarget;
  readonly route: Route | undefined;
  /** Segments behind the family. */
  readonly path: ApiRequest["path"];
  readonly address: string;
  credentials: Credentials;
  deadlineMs: number | undefined = undefined;
  admitted: Admitted | undefined = undefined;
  /** Set when the caller was not known in time: charges it once it is known, if it was served. */
  chargeLate: ((isServed: boolean) => void) | undefined = undefined;
  /** The guard's own charge, for a route that charges nothing itself. */
  receipt: Receipt | undefined = undefined;
  releaseBody: (() => void) | undefined = undefined;
  bodyOctets = 0;
  params: Params | undefined = undefined;
  isBodyTaken = false;
  /** The status of its refusal, which another service's shape may not send. */
  refusal: Refusal | undefined = undefined;

  constructor(
    request: HttpRequest,
    target: RequestTarget,
    route: Route | undefined,
    address: string,
  ) {
    this.request = request;
    this.target = target;
    this.route = route;
    this.path = route === undefined ? NO_SEGMENTS : segmentsOf(target.path, route.family);
    this.address = address;
    this.credentials = credentialsOf(request);
  }
}

/**
 * The one chain of every `/api` request: client address, admission, route, body, handler, rate headers, JSON of a
 * refusal or a fault, log and metrics. Nothing else answers there, so nothing can forget a part.
 */
export function createGuard(routes: readonly Route[], terms: GuardTerms): Guard {
  const { log, clock, settings } = terms;
  const deps: GuardDeps = {
    ...terms,
    accessLog: createAccessLog(log, settings.accessLogLinesPerSecond),
    faultLog: createFaultLog(log, clock),
  };
  const families = new Map(routes.map((route) => [route.family, route]));
  return (request, response, target) => {
    const route = families.get(familyOf(target.path));
    if (request.method === "OPTIONS" && route?.foreign?.cors !== false) {
      preflight(response);
      return;
    }
    const call = new RequestState(request, target, route, addressOf(request, settings));
    respond(call, response, deps).catch((fault: unknown) => {
      // An answer that cannot be written, a header with a line break say, must not end the process.
      log.error("http.answer_failed", fault, { route: route?.family ?? "none" });
      request.destroy();
    });
  };
}

const PREFIX = "/api/";
const COMPAT = "/compat/";

/** The segment behind `/api/`, "compat/SERVICE" behind `/compat/`; "" for `/api` itself. */
function familyOf(path: string): string {
  const isCompat = path.startsWith(COMPAT);
  const end = path.indexOf("/", isCompat ? COMPAT.length : PREFIX.length);
  return path.slice(isCompat ? 1 : PREFIX.length, end < 0 ? path.length : end);
}

const SEGMENTS_MAX = 1_000;

const NO_SEGMENTS: readonly string[] = [];

function segmentsOf(path: string, family: string): ApiRequest["path"] {
  const start = (path.startsWith(COMPAT) ? 1 : PREFIX.length) + family.length + 1;
  const end = path.endsWith("/") ? path.length - 1 : path.length;
  if (start >= end) return NO_SEGMENTS;
  const rest = path.slice(start, end);
  return rest.includes("/")
    ? rest.split("/", SEGMENTS_MAX + 1).map(decodeSegment)
    : [decodeSegment(rest)];
}

async function respond(call: RequestState, response: HttpResponse, deps: GuardDeps): Promise<void> {
  const startMs = deps.clock.monotonicMs();
  let answer: ApiReply;
  try {
    answer = await handle(call, deps);
    if (typeof answer.body !== "string") await begun(answer.body, response);
  } catch (error) {
    answer = await recover(error, call, deps);
  } finally {
    call.releaseBody?.();
  }
  answer = hinted(answer, call);
  call.chargeLate?.((answer.status ?? 200) < 400);
  const releasing = call.admitted?.reservedUnit?.release();
  // Before the answer: otherwise the caller's next request could be refused.
  if (releasing !== undefined) await releasing;
  await endOfIteration();
  send(response, answer, call.admitted);
  record(answer, call, { startMs, endMs: deps.clock.monotonicMs() }, deps);
}

/** With what the sender may have meant otherwise. Clients of other services know no such header. */
function hinted(answer: ApiReply, { params, route }: RequestState): ApiReply {
  const hint = route?.foreign === undefined ? params?.hint() : undefined;
  if (hint === undefined) return answer;
  const said = answer.headers?.[NOTICE];
  const notice = said === undefined ? hint : `${said} ${hint}`;
  return { ...answer, headers: { ...answer.headers, [NOTICE]: notice } };
}

async function handle(call: RequestState, deps: GuardDeps): Promise<ApiReply> {
  const { route, request, path } = call;
  const failed = isReadEarly(route) ? await readEarly(call, route, deps) : undefined;
  const startedMs = deps.clock.monotonicMs();
  const entering = enter(call, deps, failed);
  const admitted = entering instanceof Promise ? await entering : entering;
  call.admitted = admitted;
  const waitedMs = deps.clock.monotonicMs() - startedMs;
  const [method, served] = servedBy(admitted, route, request.method);
  if (failed !== undefined) throw failed;
  if (path.length > SEGMENTS_MAX) throw targetTooLong();
  // With the rate spent, a route that charges nothing itself costs one credit.
  if (admitted.creditsOnly !== undefined && served.charges === "nothing") {
    call.receipt = await deps.admission.charge(admitted, 0);
  }
  const reading = call.params ?? paramsOf(call, served, deps.bodies);
  const params = (call.params = reading instanceof Promise ? await reading : reading);
  // A batch is charged for what it holds, and the unit reserved before might be the last of it.
  if (served.isBulk?.(params, path) === true) await admitted.reservedUnit?.release();
  const received = (octets: number): void => void (call.bodyOctets = octets);
  const asked = { method, path, params, admitted, waitedMs, source: request, received };
  const answering = served.handle(asked);
  return paidFrom(call.receipt, answering instanceof Promise ? await answering : answering);
}

const isReadEarly = (route: Route | undefined): route is Route =>
  route?.foreign !== undefined || route?.deadlineMs !== undefined;

function enter(call: RequestState, deps: GuardDeps, failed: unknown): Awaitable<Admitted> {
  const { credentials, address, deadlineMs } = call;
  const { admission } = deps;
  const isSingle = failed === undefined && isLikelySingle(call, admission);
  const entering = admission.enter(credentials, address, isSingle ? "unit" : undefined);
  if (deadlineMs === undefined || !(entering instanceof Promise)) return entering;
  return inDeadline(entering, call, deadlineMs, deps);
}

/** Asked only where it saves a network round trip: a unit is then counted with the rate, and given back if it is not needed. */
function isLikelySingle(call: RequestState, { countsAhead }: Admission): boolean {
  return countsAhead && !isLarge(call) && call.route?.isSingle?.(call.path) === true;
}

/** Throws the `Refusal` of a caller or method that the route does not serve. */
function servedBy(
  { caller, refusal }: Admitted,
  route: Route | undefined,
  method: string | undefined,
): readonly [Method, Route] {
  if (refusal !== undefined) throw refusal;
  if (route === undefined) throw notFound();
  if (caller.isPublishable === true && route.forPublishableKeys !== true) {
    throw publishableKeyElsewhere();
  }
  const served = route.methods.find((name) => name === method);
  if (served === undefined) throw methodNotAllowed();
  return [served, route];
}

const paidFrom = (receipt: Receipt | undefined, answer: ApiReply): ApiReply =>
  receipt === undefined ? answer : { ...answer, paidBy: receipt.paidBy };

/**
 * Reads who asks in another service's shape, or until when a decision is of use; what is wrong with the body is
 * answered later.
 */
async function readEarly(call: RequestState, route: Route, deps: GuardDeps): Promise<unknown> {
  try {
    const params = await paramsOf(call, route, deps.bodies);
    call.params = params;
    call.deadlineMs = route.deadlineMs?.(params, call.credentials);
    if (route.foreign !== undefined) {
      call.credentials = route.foreign.credentials(params, call.request);
    }
    return undefined;
  } catch (error) {
    const isTooLarge = route.deadlineMs !== undefined && refusalOf(error)?.status === 413;
    return isTooLarge ? decideBodyTooLarge() : error;
  }
}

/** No single check is in a larger body, so a refused one is read no further than this to know it. */
const SINGLE_MAX_BYTES = 16_384;

function isLarge({ request: { headers } }: RequestState): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > SINGLE_MAX_BYTES;
}

function paramsOf(call: RequestState, route: Route, bodies: BodyReader): Awaitable<Params> {
  const { request, target } = call;
  // Official clients of other services send a JSON body with GET.
  if (route.body === "params" && (request.method !== "GET" || route.foreign !== undefined)) {
    return readBody(call, route, bodies);
  }
  if (target.query === "") return NO_PARAMS;
  return new Params({ kind: "none" }, target.query, route.parameters);
}

async function readBody(call: RequestState, route: Route, bodies: BodyReader): Promise<Params> {
  call.isBodyTaken = true;
  const { admitted } = call;
  // The memory is the address's until it is known who asks.
  const owner = admitted === undefined ? bucketKey(call.address) : ownerKey(admitted.caller.owner);
  const { body, release } = await bodies.read(call.request, {
    owner,
    wanted: route.parameters,
    maxBytes: maxBytesOf(route),
    takesText: route.foreign !== undefined, // official clients declare other types
    received: (octets: number): void => void (call.bodyOctets = octets),
  });
  call.releaseBody = release;
  return new Params(body, call.target.query, route.parameters);
}

/** Of a body that is read before its sender is known: a batch of 200 addresses in JSON fits. */
const EARLY_MAX_BYTES = 65_536;
/** Larger, so that an address which is far too long is refused for its format by callers that fail open. */
const DECIDE_MAX_BYTES = 1_048_576;

function maxBytesOf({ foreign, deadlineMs }: Route): number {
  if (foreign !== undefined) return EARLY_MAX_BYTES;
  return deadlineMs === undefined ? BODY_MAX_BYTES : DECIDE_MAX_BYTES;
}

/** What the decision itself takes after that, without DNS. */
const DECIDE_MS = 25;

/** A store that is slow or away must not delay a sign-up: the caller is then an anonymous one. */
async function inDeadline(
  entering: Promise<Admitted>,
  call: RequestState,
  deadlineMs: number,
  { admission, clock, faultLog }: GuardDeps,
): Promise<Admitted> {
  const timeoutMs = Math.max(0, deadlineMs - DECIDE_MS);
  const logFault = (error: unknown): void => {
    if (!(error instanceof Refusal)) faultLog(error, { method: "POST", route: "decide" });
  };
  let why: "late" | "away" = "late";
  try {
    const admitted = await inTime(entering, { timeoutMs, late: undefined, clock });
    if (admitted !== undefined) return admitted;
    call.chargeLate = (isServed) => {
      entering.then((late) => chargeIfServed(late, isServed, admission)).catch(logFault);
    };
  } catch (error) {
    if (storeDownOf(error) === undefined) throw error;
    logFault(error);
    why = "away";
  }
  return admission.unidentified(call.credentials, call.address, why);
}

/** The rate was counted when the caller became known; whoever was refused, by either name, is charged nothing. */
async function chargeIfServed(
  admitted: Admitted,
  isServed: boolean,
  admission: Pick<Admission, "charge">,
): Promise<void> {
  if (isServed && admitted.refusal === undefined) await admission.charge(admitted, 1);
  else await admitted.reservedUnit?.release();
}

async function recover(error: unknown, call: RequestState, deps: GuardDeps): Promise<ApiReply> {
  const { log, faultLog, metrics } = deps;
  const { request, route, receipt } = call;
  const reason = await refusalFor(error, call, deps.bodies);
  const refusal = refusalOf(reason);
  if (refusal !== undefined) {
    metrics.refused(refusal.code);
    call.refusal = refusal;
    await chargeOctets(call, refusal, deps.admission);
  }
  // Only another service's shape shows what was asked.
  const { params, path } = call;
  const asked = route?.foreign && { path, ...(params && { params }) };
  const answer = refused(reason, route, asked);
  const isDown = storeDownOf(error) !== undefined;
  if (refusal !== undefined && !isDown) return paidFrom(receipt, answer);
  faultLog(error, { method: request.method, route: route?.family ?? "none" });
  const giveBack = async (): Promise<void> => {
    try {
      await receipt?.refund();
    } catch (fault) {
      log.error("http.refund_failed", fault, { route: route?.family ?? "none" });
    }
  };
  // A store that is down would make the client wait for the refund as long as for the fault.
  if (isDown) void giveBack();
  else await giveBack();
  return answer;
}

async function refusalFor(
  error: unknown,
  call: RequestState,
  bodies: BodyReader,
): Promise<unknown> {
  const known = refusalOf(error);
  if (known === undefined) return error;
  const unpaid = call.receipt === undefined ? call.admitted : undefined;
  // With the rate spent, credits pay or nothing is served: plain mistakes are not free of limits.
  const refusal = known.status <= 405 ? (unpaid?.creditsOnly ?? known) : known;
  const hasDetail = Object.keys(refusal.detail).length > 0;
  return hasDetail && (await asksInBulk(call, bodies)) ? forBulk(refusal) : refusal;
}

/** Whether the refused request is for many entries, which may be in a body that is not read yet. */
async function asksInBulk(call: RequestState, bodies: BodyReader): Promise<boolean> {
  const { route, path } = call;
  if (route === undefined) return false;
  if (call.params === undefined && isLarge(call)) return true;
  if (route.isBulk?.(call.params ?? NO_PARAMS, path) === true) return true;
  if (route.isBulk === undefined || call.params !== undefined || call.isBodyTaken) return false;
  try {
    return route.isBulk(await paramsOf(call, route, bodies), path);
  } catch {
    return false; // an unreadable body asks for nothing
  }
}

/** Refusals that come after a body was decoded, or cut short for its size. */
const COSTLY = new Set([400, 413, 422]);

/** A refused body costs one request for each 64 KiB of it that was read, because reading is the work. */
async function chargeOctets(
  call: RequestState,
  refusal: Refusal,
  admission: Admission,
): Promise<void> {
  const { admitted } = call;
  const more = Math.ceil(call.bodyOctets / SMALL_BODY_OCTETS) - 1;
  if (admitted === undefined || more <= 0 || !COSTLY.has(refusal.status)) return;
  await admission.spend(admitted, more);
  const { rate } = admitted;
  if (rate === undefined) return;
  const remaining = Math.max(0, rate.remaining - more);
  call.admitted = { ...admitted, rate: { ...rate, remaining } };
}

interface TimeSpan {
  readonly startMs: number;
  readonly endMs: number;
}

function record(
  answer: ApiReply,
  call: RequestState,
  { startMs, endMs }: TimeSpan,
  deps: GuardDeps,
): void {
  const { request, route: served, admitted } = call;
  const route = served?.family ?? "none";
  const method = served?.methods.find((name) => name === request.method) ?? "other";
  const status = answer.status ?? 200;
  const durationMs = endMs - startMs;
  deps.metrics.observe(route, method, status, durationMs);
  const line = { method, route, status, durationMs };
  deps.accessLog(line, { caller: admitted?.caller, entry: answer.entry }, endMs);
  if (admitted === undefined) return;
  deps.usage.record(admitted.caller, { refusal: refusalCode(status, call) });
}

/** Undefined for what was answered, and for faults, which are nobody's refusal. */
function refusalCode(answered: number, { refusal }: RequestState): string | undefined {
  const { status, code } = refusal ?? { status: answered, code: "other" };
  return status >= 400 && status < 500 ? code : undefined;
}
