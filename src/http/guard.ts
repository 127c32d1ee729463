import type { Admission, Admitted, Receipt } from "../accounts/admission/admission.ts";
import { bucketKey, type Credentials } from "../accounts/admission/caller.ts";
import type { UsageRecorder } from "../accounts/admission/usage-recorder.ts";
import { type Clock, inTime } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { HttpMetrics } from "../base/metrics.ts";
import { ownerKey } from "../base/owner.ts";
import {
  methodNotAllowed,
  notFound,
  publishableKeyElsewhere,
  Refusal,
  targetTooLong,
} from "../base/refusals.ts";
import { SMALL_BODY_OCTETS } from "../base/resources.ts";
import { storeDownOf } from "../base/store-down.ts";
import { type Awaitable, when } from "../core/mail/lookup.ts";
import { begun, endOfIteration, NOTICE, preflight, refusalOf, refused, send } from "./answer.ts";
import { BODY_MAX_BYTES, type BodyReader } from "./body.ts";
import { addressOf, credentialsOf, type TrustedProxies } from "./client-address.ts";
import { NO_PARAMS, Params } from "./params.ts";
import { type AccessLog, createAccessLog, createFaultLog, type FaultLog } from "./request-logs.ts";
import type {
  ApiReply,
  ApiRequest,
  Before,
  HttpRequest,
  HttpResponse,
  Method,
  Route,
} from "./route.ts";
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
  const isCharged = (answer.status ?? 200) < 400 && call.admitted?.spent === undefined;
  call.chargeLate?.(isCharged);
  const releasing = call.admitted?.reservedUnit?.release();
  // Before the answer: otherwise the caller's next request could be refused.
  if (releasing !== undefined) await releasing;
  await endOfIteration();
  send(response, answer, call.admitted);
  record(answer, call, startMs, deps);
}

/** With what the sender may have meant otherwise. Clients of other services know no such header. */
function hinted(answer: ApiReply, { params, route }: RequestState): ApiReply {
  const hint = route?.foreign === undefined ? params?.hint() : undefined;
  if (hint === undefined) return answer;
  const own = answer.headers?.[NOTICE];
  const notice = own === undefined ? hint : `${own} ${hint}`;
  return { ...answer, headers: { ...answer.headers, [NOTICE]: notice } };
}

async function handle(call: RequestState, deps: GuardDeps): Promise<ApiReply> {
  const { route, request, path } = call;
  const failed = route?.before && (await readBefore(call, route, route.before, deps));
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
  if (served.isSingle?.(path, params) === false) await admitted.reservedUnit?.release();
  const received = (octets: number): void => void (call.bodyOctets = octets);
  const apiRequest = { method, path, params, admitted, waitedMs, source: request, received };
  const answering = served.handle(apiRequest);
  return paidFrom(call.receipt, answering instanceof Promise ? await answering : answering);
}

function enter(call: RequestState, deps: GuardDeps, failed: unknown): Awaitable<Admitted> {
  const { credentials, address, deadlineMs, route } = call;
  const { admission } = deps;
  // Asked only where it saves a network round trip: a unit is then counted with the rate, and given back if it is not needed.
  const mayCount = failed === undefined && admission.countsAhead && !isLarge(call);
  const isSingle = mayCount && route?.isSingle?.(call.path) === true;
  const entering = admission.enter(credentials, address, isSingle ? "unit" : undefined);
  const isLate = deadlineMs !== undefined && entering instanceof Promise;
  const entered = isLate ? inDeadline(entering, call, deadlineMs, deps) : entering;
  const admits = route?.admits;
  return admits === undefined ? entered : when(entered, admits);
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

/** Returns what is wrong with the body, which is answered once it is known who asks. */
async function readBefore(
  call: RequestState,
  route: Route,
  { unread, terms }: Before,
  { bodies }: GuardDeps,
): Promise<unknown> {
  try {
    call.params = await paramsOf(call, route, bodies);
  } catch (error) {
    const refusal = refusalOf(error);
    const instead = refusal && unread?.(refusal);
    if (!(instead instanceof Params)) return instead ?? error;
    call.params = instead;
  }
  try {
    const found = terms(call.params, call.request, call.credentials);
    call.credentials = found.credentials ?? call.credentials;
    call.deadlineMs = found.deadlineMs;
    return undefined;
  } catch (error) {
    return error;
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
    maxBytes: route.before?.maxBytes ?? BODY_MAX_BYTES,
    takesText: route.foreign !== undefined, // official clients declare other types
    received: (octets: number): void => void (call.bodyOctets = octets),
  });
  call.releaseBody = release;
  return new Params(body, call.target.query, route.parameters);
}

/** What the answer itself takes after that, without DNS. */
const ANSWER_MS = 25;

/** A store that is slow or away must not delay the answer: the caller is then an anonymous one. */
async function inDeadline(
  entering: Promise<Admitted>,
  call: RequestState,
  deadlineMs: number,
  { admission, clock, faultLog }: GuardDeps,
): Promise<Admitted> {
  const timeoutMs = Math.max(0, deadlineMs - ANSWER_MS);
  const logFault = (error: unknown): void => {
    if (error instanceof Refusal) return;
    faultLog(error, { method: call.request.method, route: call.route?.family ?? "none" });
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
  const reason = refusalFor(error, call);
  const refusal = refusalOf(reason);
  if (refusal !== undefined) {
    metrics.refused(refusal.code);
    call.refusal = refusal;
    await chargeOctets(call, refusal, deps.admission);
  }
  const { params, path } = call;
  const isSingle = route?.refused === undefined || (await isOne(call, refusal, deps.bodies));
  const answer = refused(reason, route, { path, params, isSingle });
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

/** With the rate spent, credits pay or nothing is served: plain mistakes are not free of limits. */
function refusalFor(error: unknown, { receipt, admitted }: RequestState): unknown {
  const known = refusalOf(error);
  if (known === undefined) return error;
  const unpaid = receipt === undefined ? admitted?.creditsOnly : undefined;
  return known.status <= 405 ? (unpaid ?? known) : known;
}

async function isOne(
  call: RequestState,
  refusal: Refusal | undefined,
  bodies: BodyReader,
): Promise<boolean> {
  const { route, path } = call;
  const isAsked = refusal !== undefined && Object.keys(refusal.detail).length > 0;
  if (route?.isSingle === undefined || !isAsked) return true;
  if (call.params === undefined && isLarge(call)) return false;
  if (!route.isSingle(path, call.params)) return false;
  if (call.params !== undefined || call.isBodyTaken) return true;
  try {
    return route.isSingle(path, await paramsOf(call, route, bodies));
  } catch {
    return true; // an unreadable body asks for nothing
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

function record(answer: ApiReply, call: RequestState, startMs: number, deps: GuardDeps): void {
  const { request, route: served, admitted } = call;
  const route = served?.family ?? "none";
  const method = served?.methods.find((name) => name === request.method) ?? "other";
  const status = answer.status ?? 200;
  const endMs = deps.clock.monotonicMs();
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
