import type { FastifyReply } from "fastify";
import { storeDownOf } from "../../ports/process/store-down.ts";
import { RESOURCES } from "../../ports/sharing/resources.ts";
import { NoRoom } from "../../ports/sharing/share.ts";
import type { Entrance } from "../../service/admission/admission.ts";
import {
  INTERNAL_ERROR_MESSAGE,
  badRequest,
  Refusal,
  serviceFull,
  storeUnavailable,
  tooManyStreams,
  tooMuchAtOnce,
  unsupportedMediaType,
} from "../../service/refusals.ts";
import { type ApiReply, type ApiRequest, JSON_TYPE, type Route } from "./route.ts";

/** On every answer of the API. A result is a moment's verdict on an address: no cache may keep it. */
export const EVERY_ANSWER = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;

/** Answers a preflight: any page may call the API, with a key of its own. Never counted. */
export function preflight(reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .headers({
      ...EVERY_ANSWER,
      "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
      "access-control-allow-headers": "X-Api-Key, Authorization, Content-Type, Idempotency-Key",
      "access-control-max-age": "86400",
    })
    .send();
}

/**
 * Sends an answer with the rate headers of its entrance, unless credits paid for it. Text goes straight to
 * Node: the framework has nothing to serialise, and a cached answer is 5 % cheaper without it.
 */
export function send(reply: FastifyReply, answer: ApiReply, entrance: Entrance | undefined): void {
  const headers = headersOf(answer, entrance);
  const status = answer.status ?? 200;
  if (typeof answer.body !== "string") {
    void reply.code(status).headers(headers).send(answer.body);
    return;
  }
  headers["content-length"] = String(Buffer.byteLength(answer.body));
  reply.hijack();
  reply.raw.writeHead(status, headers);
  endAfterRequest(reply.raw, answer.body);
}

/**
 * The rest of a refused body is read and dropped before the answer ends, because the end may close the connection:
 * a client that sends first and reads later would be cut off and never see why. It has the whole answer from the
 * start; the time limit of the request bounds the rest.
 */
function endAfterRequest(response: FastifyReply["raw"], body: string): void {
  const { req: request } = response;
  if (request.readableEnded || !hasBody(request)) {
    response.end(body);
    return;
  }
  response.flushHeaders(); // for HEAD, which writes nothing else
  response.write(body);
  const end = (): void => void response.end();
  request.once("end", end).once("close", end).resume();
}

/** Whether the request announced a body (RFC 9112 section 6). */
const hasBody = ({ headers }: FastifyReply["raw"]["req"]): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

function headersOf(answer: ApiReply, entrance: Entrance | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    "cache-control": EVERY_ANSWER["cache-control"],
    "x-content-type-options": EVERY_ANSWER["x-content-type-options"],
    "content-type": answer.type,
  };
  if (answer.crossOrigin !== false) {
    headers["access-control-allow-origin"] = EVERY_ANSWER["access-control-allow-origin"];
    headers["access-control-expose-headers"] = EVERY_ANSWER["access-control-expose-headers"];
  }
  const rate = entrance?.rate;
  if (rate !== undefined && answer.paidBy !== "credits") {
    headers["x-ratelimit-limit"] = String(rate.limit);
    headers["x-ratelimit-remaining"] = String(rate.remaining);
  }
  if (answer.headers !== undefined) Object.assign(headers, answer.headers);
  return headers;
}

/** The refusal that a thrown value is, be it ours, a store's or the framework's; undefined for a fault. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof NoRoom) return refusalOfShare(error);
  return storeDownOf(error) === undefined ? refusalOfFramework(error) : storeUnavailable();
}

function refusalOfShare({ resource, why }: NoRoom): Refusal {
  if (why === "all") return serviceFull();
  return resource === "event_streams"
    ? tooManyStreams(RESOURCES.event_streams.perOwner)
    : tooMuchAtOnce();
}

/** What a thrown value looks like to the client: a refusal as it stands, anything else as a 500. */
export function refused(
  error: unknown,
  route: Route | undefined,
  path: ApiRequest["path"] = [],
): ApiReply {
  const refusal = refusalOf(error);
  const foreign = route?.foreign?.refused(refusal, path);
  if (refusal === undefined) {
    return foreign ?? { status: 500, type: JSON_TYPE, body: errorBody(INTERNAL_ERROR_MESSAGE) };
  }
  const { status, message, detail, retryAfterSeconds } = refusal;
  const headers = {
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    ...(status === 405 && route !== undefined ? { allow: allowed(route) } : {}),
  };
  return { status, type: JSON_TYPE, body: errorBody(message, detail), headers, ...foreign };
}

/** `{"error": ...}` and what else belongs to it. */
export function errorBody(message: string, detail: Refusal["detail"] = {}): string {
  return JSON.stringify({ error: message, ...detail });
}

const allowed = ({ methods }: Route): string => [...methods, "OPTIONS"].join(", ");

/** What the framework itself refuses comes as an `Error` with a `statusCode` of the 400s. */
function refusalOfFramework(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !("statusCode" in error)) return undefined;
  const { statusCode } = error;
  if (statusCode === 415) return unsupportedMediaType();
  return typeof statusCode === "number" && statusCode >= 400 && statusCode < 500
    ? badRequest()
    : undefined;
}
