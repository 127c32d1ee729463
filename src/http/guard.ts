import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { HttpMetrics } from "../ports/metrics.ts";
import type { Credentials, Entrance, Gate, Receipt } from "../service/gate.ts";
import { methodNotAllowed, notFound, targetTooLong } from "../service/refusals.ts";
import type { AccessLog } from "./access-log.ts";
import { preflight, refused, send } from "./answer.ts";
import type { BodyReader } from "./body.ts";
import { clientAddress, type TrustedProxies } from "./client-address.ts";
import { NO_PARAMS, type Params, readParams } from "./params.ts";
import type { ApiReply, ApiRequest, Method, Route } from "./route.ts";
import { decodePercent, readTarget, type Target, TARGET_MAX_CHARACTERS } from "./target.ts";

export interface GuardDeps {
  readonly gate: Gate;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: HttpMetrics;
  readonly trustedProxies: TrustedProxies;
  readonly bodies: BodyReader;
  readonly accessLog: AccessLog;
}

/**
 * Answers one request under `/api`. `failed` is what the framework found wrong before: it is answered in its
 * turn, after the request was counted.
 */
export type Guard = (
  request: FastifyRequest,
  reply: FastifyReply,
  failed?: unknown,
) => Promise<FastifyReply>;

/** What is known of the request so far; filled on the way. */
interface Call {
  readonly request: FastifyRequest;
  readonly target: Target;
  readonly route: Route | undefined;
  entrance?: Entrance;
  /** The guard's own charge, for a route that charges nothing itself. */
  receipt?: Receipt;
  releaseBody?: () => void;
}

/**
 * The one chain of every `/api` request: client address, gate, route, body, handler, rate headers, JSON of a
 * refusal or a fault, log and metrics. Nothing else answers there, so nothing can forget a part.
 */
export function createGuard(routes: readonly Route[], deps: GuardDeps): Guard {
  const families = new Map(routes.map((route) => [route.family, route]));
  return async (request, reply, failed) => {
    const startMs = deps.clock.monotonicMs();
    if (request.method === "OPTIONS") return preflight(reply);
    const target = readTarget(request.originalUrl);
    const call: Call = { request, target, route: families.get(familyOf(target.path)) };
    let answer: ApiReply;
    try {
      answer = await handle(call, failed, deps);
    } catch (error) {
      answer = await recover(error, call, deps.log);
    }
    call.releaseBody?.();
    send(reply, answer, call.entrance);
    record(answer, call, deps.clock.monotonicMs() - startMs, deps);
    return reply;
  };
}

/** The answer to whatever was thrown. A fault is logged here and nowhere else. */
async function recover(error: unknown, call: Call, log: Log): Promise<ApiReply> {
  const { request, route, entrance, receipt } = call;
  const answer = refused(error, { route, unpaid: receipt === undefined ? entrance : undefined });
  if (answer.status !== 500)
    return receipt === undefined ? answer : { ...answer, paidBy: "credits" };
  log.error("request failed", error, { method: request.method, route: route?.family ?? "none" });
  try {
    await receipt?.refund();
  } catch (fault) {
    log.error("refund failed", fault, { route: route?.family ?? "none" });
  }
  return answer;
}

function record(answer: ApiReply, call: Call, durationMs: number, deps: GuardDeps): void {
  const { request, route: served, entrance } = call;
  const route = served?.family ?? "none";
  const method = served?.methods.find((name) => name === request.method) ?? "other";
  const status = answer.status ?? 200;
  deps.metrics.observe(route, method, status, durationMs);
  const line = { method, route, status, durationMs };
  deps.accessLog(line, { caller: entrance?.caller, entry: answer.entry });
}

const PREFIX = "/api/";

/** The segment behind `/api/`; "" for `/api` itself. */
function familyOf(path: string): string {
  const end = path.indexOf("/", PREFIX.length);
  return path.slice(PREFIX.length, end < 0 ? path.length : end);
}

async function handle(call: Call, failed: unknown, deps: GuardDeps): Promise<ApiReply> {
  const { request, route, target } = call;
  const { headers, socket } = request.raw;
  const address = clientAddress(
    socket.remoteAddress,
    oneLine(headers["x-forwarded-for"]),
    deps.trustedProxies,
  );
  const entrance = await deps.gate.enter(credentialsOf(request), address);
  call.entrance = entrance;
  if (entrance.refusal !== undefined) throw entrance.refusal;
  if (request.originalUrl.length > TARGET_MAX_CHARACTERS) throw targetTooLong();
  if (route === undefined) throw notFound();
  const method = servedMethod(route, request.method);
  if (failed !== undefined) throw failed;
  if (entrance.creditsOnly !== undefined && route.charges === "nothing") {
    call.receipt = await deps.gate.charge(entrance, 0);
  }
  const params = await paramsOf(call, route, deps.bodies);
  const path = segmentsOf(target.path, route.family);
  const answer = await route.handle({ method, path, params, entrance, source: request });
  return call.receipt === undefined ? answer : { ...answer, paidBy: call.receipt.paidBy };
}

function servedMethod(route: Route, method: string): Method {
  const served = route.methods.find((name) => name === method);
  if (served === undefined) throw methodNotAllowed();
  return served;
}

function segmentsOf(path: string, family: string): ApiRequest["path"] {
  const start = PREFIX.length + family.length + 1;
  const end = path.endsWith("/") ? path.length - 1 : path.length;
  if (start >= end) return NO_SEGMENTS;
  return path.slice(start, end).split("/").map(decodePercent);
}

const NO_SEGMENTS: readonly string[] = [];

async function paramsOf(call: Call, route: Route, bodies: BodyReader): Promise<Params> {
  const { request, target } = call;
  const readsBody = route.body === "params" && request.method !== "GET";
  if (!readsBody) {
    return target.query === ""
      ? NO_PARAMS
      : readParams({ kind: "none" }, target.query, route.parameters);
  }
  const { body, release } = await bodies.read(request.raw);
  call.releaseBody = release;
  return readParams(body, target.query, route.parameters);
}

const NO_CREDENTIALS: Credentials = { apiKey: [], authorization: [] };

/** Node joins repeated headers or drops all but the first; the raw list has them all. */
function credentialsOf({ raw }: FastifyRequest): Credentials {
  const { headers, rawHeaders } = raw;
  if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
    return NO_CREDENTIALS;
  }
  const values = (name: string): string[] =>
    rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  return { apiKey: values("x-api-key"), authorization: values("authorization") };
}

const oneLine = (value: string | string[] | undefined): string | undefined =>
  typeof value === "string" ? value : value?.join(",");
