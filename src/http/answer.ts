import type { FastifyReply } from "fastify";
import type { Entrance } from "../service/gate.ts";
import {
  INTERNAL_ERROR_MESSAGE,
  badRequest,
  Refusal,
  unsupportedMediaType,
} from "../service/refusals.ts";
import { type ApiReply, JSON_TYPE, type Route } from "./route.ts";

/** On every answer of the API. A result is a moment's verdict on an address: no cache may keep it. */
const EVERY_ANSWER = {
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

/** Sends an answer with the rate headers of its entrance, unless credits paid for it. */
export function send(reply: FastifyReply, answer: ApiReply, entrance: Entrance | undefined): void {
  const headers: Record<string, string> = {
    "access-control-allow-origin": EVERY_ANSWER["access-control-allow-origin"],
    "access-control-expose-headers": EVERY_ANSWER["access-control-expose-headers"],
    "cache-control": EVERY_ANSWER["cache-control"],
    "x-content-type-options": EVERY_ANSWER["x-content-type-options"],
    "content-type": answer.type,
  };
  const rate = entrance?.rate;
  if (rate !== undefined && answer.paidBy !== "credits") {
    headers["x-ratelimit-limit"] = String(rate.limit);
    headers["x-ratelimit-remaining"] = String(rate.remaining);
  }
  reply.code(answer.status ?? 200).headers(headers);
  if (answer.headers !== undefined) reply.headers(answer.headers);
  reply.send(answer.body);
}

export interface RefusedCall {
  readonly route: Route | undefined;
  /** The entrance, when nothing was charged yet. */
  readonly unpaid: Entrance | undefined;
}

/** What a thrown value looks like to the client: a refusal as it stands, anything else as a 500. */
export function refused(error: unknown, { route, unpaid }: RefusedCall): ApiReply {
  const known = error instanceof Refusal ? error : refusalOfFramework(error);
  if (known === undefined) {
    return { status: 500, type: JSON_TYPE, body: errorBody(INTERNAL_ERROR_MESSAGE) };
  }
  // With the rate spent, credits pay or nothing is served: plain mistakes are not free of limits.
  const refusal = known.status <= 405 ? (unpaid?.creditsOnly ?? known) : known;
  const { status, message, detail, retryAfterSeconds } = refusal;
  const headers = {
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    ...(status === 405 && route !== undefined ? { allow: allowed(route) } : {}),
  };
  return { status, type: JSON_TYPE, body: errorBody(message, detail), headers };
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
