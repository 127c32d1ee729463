import type { Awaitable } from "../../core/mail/lookup.ts";
import { when } from "../../core/when.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { HttpMetrics } from "../../base/metrics.ts";
import { forBulk } from "../../bulk/bulk.ts";
import type { Admission, Entrance, Receipt } from "../../accounts/admission/admission.ts";
import { bucketKey } from "../../accounts/admission/caller.ts";
import {
  decideBodyTooLarge,
  methodNotAllowed,
  notFound,
  publishableKeyElsewhere,
  targetTooLong,
} from "../../base/refusals.ts";
import type { UsageRecorder } from "../../accounts/admission/usage-recorder.ts";
import { storeDownOf } from "../../base/store-down.ts";
import type { AccessLog } from "../answer/access-log.ts";
import { begun, endOfTurn, preflight, refusalOf, refused, send } from "../answer/answer.ts";
import type { BodyReader } from "../request/body/body.ts";
import type { TrustedProxies } from "../request/client-address.ts";
import { credentialsOf } from "../request/credentials.ts";
import { chargeOctets } from "./charge-octets.ts";
import { SEGMENTS_MAX } from "./asked.ts";
import { askedOf, type Call, isLarge, paramsOf } from "./call.ts";
import { addressOf, inDeadline } from "./entering.ts";
import type { FaultLog } from "../answer/fault-log.ts";
import { NO_PARAMS } from "../request/params.ts";
import { familyOf } from "./asked.ts";
import type {
  ApiReply,
  ApiRequest,
  HttpRequest,
  HttpResponse,
  Method,
  Route,
} from "../answer/route.ts";
import type { Target } from "../request/target.ts";

export interface GuardDeps {
  readonly admission: Admission;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: HttpMetrics;
  readonly trustedProxies: TrustedProxies;
  readonly bodies: BodyReader;
  readonly accessLog: AccessLog;
  readonly faultLog: FaultLog;
  readonly usage: Pick<UsageRecorder, "record">;
}

/** Answers one request under `/api` or `/compat`. Never rejects. */
export type Guard = (request: HttpRequest, response: HttpResponse, target: Target) => Promise<void>;

/**
 * The one chain of every `/api` request: client address, gate, route, body, handler, rate headers, JSON of a
 * refusal or a fault, log and metrics. Nothing else answers there, so nothing can forget a part.
 */
export function createGuard(routes: readonly Route[], deps: GuardDeps): Guard {
  const families = new Map(routes.map((route) => [route.family, route]));
  return async (request, response, target) => {
    const route = families.get(familyOf(target.path));
    if (request.method === "OPTIONS" && route?.foreign?.cors !== false) {
      preflight(response);
      return;
    }
    const call: Call = { request, target, route };
    try {
      await respond(call, response, deps);
    } catch (fault) {
      // An answer that cannot be written, a header with a line break say, must not end the process.
      deps.log.error("http.answer_failed", fault, { route: route?.family ?? "none" });
      request.destroy();
    }
  };
}

async function respond(call: Call, response: HttpResponse, deps: GuardDeps): Promise<void> {
  const startMs = deps.clock.monotonicMs();
  let answer: ApiReply;
  try {
    const failed = isReadEarly(call.route) ? await readEarly(call, deps) : undefined;
    answer = await handle(call, failed, deps);
    if (typeof answer.body !== "string") await begun(answer.body, response);
  } catch (error) {
    answer = await recover(error, call, deps);
  } finally {
    call.releaseBody?.();
  }
  call.settleLate?.((answer.status ?? 200) < 400);
  const releasing = call.entrance?.advance?.release();
  // Before the answer: otherwise the caller's next request could be refused.
  if (releasing !== undefined) await releasing;
  await endOfTurn();
  send(response, answer, call.entrance);
  record(answer, call, { startMs, endMs: deps.clock.monotonicMs() }, deps);
}

/** The answer to an error. Every fault, also of a store, is logged here and nowhere else. */
async function recover(
  error: unknown,
  call: Call,
  { log, faultLog, bodies, metrics, admission }: GuardDeps,
): Promise<ApiReply> {
  const { request, route, receipt } = call;
  const reason = await refusalFor(error, call, bodies);
  const refusal = refusalOf(reason);
  if (refusal !== undefined) {
    metrics.refused(refusal.code);
    call.refusedAs = refusal.status;
    const { entrance, bodyOctets = 0 } = call;
    const charged = await chargeOctets(entrance, bodyOctets, { refusal, admission });
    if (charged !== undefined) call.entrance = charged;
  }
  const answer = refused(reason, route, foreignPath(call));
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

/** Only another service's shape shows it. */
const foreignPath = (call: Call): ApiRequest["path"] | undefined =>
  call.route?.foreign && askedOf(call, call.route).path;

/** What the client gets; an error that is not a refusal stays as it is. */
async function refusalFor(error: unknown, call: Call, bodies: BodyReader): Promise<unknown> {
  const known = refusalOf(error);
  if (known === undefined) return error;
  const unpaid = call.receipt === undefined ? call.entrance : undefined;
  // With the rate spent, credits pay or nothing is served: plain mistakes are not free of limits.
  const refusal = known.status <= 405 ? (unpaid?.creditsOnly ?? known) : known;
  const hasDetail = Object.keys(refusal.detail).length > 0;
  return hasDetail && (await asksInBulk(call, bodies)) ? forBulk(refusal) : refusal;
}

/** Whether the refused request is for many entries, which may be in a body that is not read yet. */
async function asksInBulk(call: Call, bodies: BodyReader): Promise<boolean> {
  const { route } = call;
  if (route === undefined) return false;
  if (call.params === undefined && isLarge(call)) return true;
  const { isBulk } = askedOf(call, route).handling;
  if (isBulk === undefined) return false;
  if (isBulk(call.params ?? NO_PARAMS)) return true;
  if (call.params !== undefined || call.isBodyTaken === true) return false;
  try {
    return isBulk(await paramsOf(call, route, bodies));
  } catch {
    return false; // an unreadable body asks for nothing
  }
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

function record(answer: ApiReply, call: Call, { startMs, endMs }: Span, deps: GuardDeps): void {
  const { request, route: served, entrance } = call;
  const route = served?.family ?? "none";
  const method = served?.methods.find((name) => name === request.method) ?? "other";
  const status = answer.status ?? 200;
  const { refusedAs = status } = call;
  const durationMs = endMs - startMs;
  deps.metrics.observe(route, method, status, durationMs);
  const line = { method, route, status, durationMs };
  deps.accessLog(line, { caller: entrance?.caller, entry: answer.entry }, endMs);
  if (entrance === undefined) return;
  deps.usage.record(entrance.caller, {
    isRefused: refusedAs >= 400 && refusedAs < 500,
    latencyMs: durationMs,
  });
}

function handle(call: Call, failed: unknown, deps: GuardDeps): Awaitable<ApiReply> {
  const startedMs = deps.clock.monotonicMs();
  return when(enter(call, deps, failed), (entrance) => {
    call.entrance = entrance;
    const waitedMs = deps.clock.monotonicMs() - startedMs;
    const { route, request } = call;
    if (entrance.refusal !== undefined) throw entrance.refusal;
    if (route === undefined) throw notFound();
    if (entrance.caller.isPublishable === true && route.forPublishableKeys !== true) {
      throw publishableKeyElsewhere();
    }
    const method = servedMethod(route, request.method);
    if (failed !== undefined) throw failed;
    if (askedOf(call, route).path.length > SEGMENTS_MAX) throw targetTooLong();
    return when(owed(entrance, route, deps), (receipt) => {
      if (receipt !== undefined) call.receipt = receipt;
      return when(call.params ?? paramsOf(call, route, deps.bodies), (params) => {
        call.params = params;
        return answerOf(call, { method, route, params, entrance, waitedMs });
      });
    });
  });
}

interface Admitted extends Pick<ApiRequest, "method" | "params" | "entrance" | "waitedMs"> {
  readonly route: Route;
}

function answerOf(call: Call, admitted: Admitted): Awaitable<ApiReply> {
  const { method, route, params, entrance, waitedMs } = admitted;
  const { path, handling } = askedOf(call, route);
  const received = (octets: number): void => void (call.bodyOctets = octets);
  // Named one by one: to spread what is left of an object costs as much as ten of these lines.
  const asked = { method, path, params, entrance, waitedMs, source: call.request, received };
  // A batch is charged for what it holds, and the unit taken in advance might be the last of it.
  const isBatch = entrance.advance !== undefined && handling.isBulk?.(params) === true;
  const released = isBatch ? entrance.advance.release() : undefined;
  const answer = when(released, () => handling.handle(asked));
  return when(answer, (reply) => paidFrom(call.receipt, reply));
}

const paidFrom = (receipt: Receipt | undefined, answer: ApiReply): ApiReply =>
  receipt === undefined ? answer : { ...answer, paidBy: receipt.paidBy };

/** With the rate spent, a route that charges nothing itself costs one credit. */
const owed = (
  entrance: Entrance,
  route: Route,
  { admission }: GuardDeps,
): Awaitable<Receipt | undefined> =>
  entrance.creditsOnly !== undefined && route.charges === "nothing"
    ? admission.charge(entrance, 0)
    : undefined;

/** Asked only where it saves a network round trip: a unit is then counted with the rate, and given back if it is not needed. */
function isLikelySingle(call: Call, { admission }: GuardDeps): boolean {
  if (!admission.countsAhead || call.route === undefined) return false;
  if (isLarge(call)) return false;
  return askedOf(call, call.route).handling.isSingle === true;
}

function enter(call: Call, deps: GuardDeps, failed: unknown): Awaitable<Entrance> {
  const { request } = call;
  const { admission } = deps;
  const isSingle = failed === undefined && isLikelySingle(call, deps);
  const address = addressOf(request, deps);
  const credentials = call.credentials ?? credentialsOf(request);
  const entering = admission.enter(credentials, address, isSingle ? "unit" : undefined);
  const { deadlineMs } = call;
  if (deadlineMs === undefined || !(entering instanceof Promise)) return entering;
  return inDeadline(entering, { call, deadlineMs, address, credentials }, deps);
}

const isReadEarly = (route: Route | undefined): boolean =>
  route?.foreign !== undefined || route?.deadlineMs !== undefined;

/**
 * Reads who asks in another service's shape, or until when a decision is of use; what is wrong with the body is
 * answered in its turn.
 */
async function readEarly(call: Call, deps: GuardDeps): Promise<unknown> {
  const { route, request } = call;
  if (route === undefined) return undefined;
  try {
    const owner = bucketKey(addressOf(request, deps));
    const params = await paramsOf(call, route, deps.bodies, owner);
    call.params = params;
    if (route.foreign !== undefined) {
      call.credentials = route.foreign.credentials(params, request);
    }
    if (route.deadlineMs !== undefined)
      call.deadlineMs = route.deadlineMs(params, credentialsOf(request));
    return undefined;
  } catch (error) {
    const isTooLarge = route.deadlineMs !== undefined && refusalOf(error)?.status === 413;
    return isTooLarge ? decideBodyTooLarge() : error;
  }
}

function servedMethod(route: Route, method: string | undefined): Method {
  const served = route.methods.find((name) => name === method);
  if (served === undefined) throw methodNotAllowed();
  return served;
}
