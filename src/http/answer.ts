import { Readable } from "node:stream";
import { DiskFull, storeDownOf } from "../base/store-down.ts";
import { NoRoom } from "../base/shares.ts";
import type { Admitted } from "../accounts/admission/admission.ts";
import {
  INTERNAL_ERROR_CODE,
  diskFull,
  INTERNAL_ERROR_MESSAGE,
  Refusal,
  serviceFull,
  storeUnavailable,
  tooMuchAtOnce,
} from "../base/refusals.ts";
import { hasBody, isCrumbled, waitsForContinue } from "./body.ts";
import {
  type ApiReply,
  type HttpResponse,
  JSON_TYPE,
  type RefusedRequest,
  type RouteReply,
  type Route,
} from "./route.ts";

/** A hint for whoever programs the client, in ASCII. */
export const NOTICE = "gatepost-notice";

/** A result is a moment's verdict on an address: no cache may keep it. */
const UNSHARED = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** Every answer of the API has these, except those that pages of other sites may not read. */
export const EVERY_ANSWER = {
  ...UNSHARED,
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After, Gatepost-Error, Gatepost-Notice",
};

/** Answers a preflight: any page may call the API, with a key of its own. Never counted. */
export function preflight(response: HttpResponse): void {
  response
    .writeHead(204, {
      ...EVERY_ANSWER,
      "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
      "access-control-allow-headers": "X-Api-Key, Authorization, Content-Type, Idempotency-Key",
      "access-control-max-age": "86400",
    })
    .end();
}

let iterationEnding: Promise<void> | undefined;

/**
 * Resolves when the event loop has seen to all that had arrived. Answers that are sent together wake their reader, a proxy
 * above all, once instead of once each.
 */
export function endOfIteration(): Promise<void> {
  iterationEnding ??= new Promise((resolve) => {
    setImmediate(() => {
      iterationEnding = undefined;
      resolve();
    });
  });
  return iterationEnding;
}

export function send(
  response: HttpResponse,
  answer: ApiReply,
  admitted: Admitted | undefined,
): void {
  const { status = 200, body } = answer;
  writeAll(response, status, headersOf(answer, admitted), body);
}

export const isStream = (body: RouteReply["body"]): body is Readable => body instanceof Readable;

export function write(
  response: HttpResponse,
  { status = 200, type, body, headers }: RouteReply,
): void {
  const all: Record<string, string> = { ...headers };
  if (type !== undefined) all["content-type"] = type;
  writeAll(response, status, all, body);
}

function writeAll(
  response: HttpResponse,
  status: number,
  headers: Record<string, string>,
  body: RouteReply["body"],
): void {
  if (isStream(body)) {
    writeStream(response, body, { status, headers });
    return;
  }
  if (status !== 204 && status !== 304) {
    headers["content-length"] = String(body === undefined ? 0 : Buffer.byteLength(body));
  }
  // A client that waits for "100 Continue" may or may not send its body now: the connection is not used again.
  if (waitsForContinue(response.req)) headers["connection"] = "close";
  response.writeHead(status, headers);
  endAfterRequest(response, body);
}

function writeStream(
  response: HttpResponse,
  body: Readable,
  { status, headers }: { readonly status: number; readonly headers: Record<string, string> },
): void {
  if (body.destroyed || response.destroyed) {
    body.destroy(); // the client left before the stream began: nothing is wrong
    response.destroy();
  } else if (response.req.method === "HEAD") {
    body.destroy();
    response.writeHead(status, headers).end();
  } else {
    response.writeHead(status, headers).once("close", () => body.destroy());
    body.once("error", () => response.destroy()).pipe(response); // it is logged where it happens
  }
}

/**
 * Resolves once the first part of a body is there, or the client has left; rejects with the fault that kept the
 * body from beginning, so that it can still be answered with a 500.
 */
export function begun(body: Readable, response: HttpResponse): Promise<void> {
  const leave = (): void => void body.destroy();
  response.once("close", leave);
  return new Promise<void>((resolve, reject) => {
    body.once("readable", resolve).once("close", resolve).once("error", reject);
  }).finally(() => response.off("close", leave));
}

/** A refused body that is larger, takes longer or comes in crumbs cuts the connection. */
const DROPPED_MAX_OCTETS = 268_435_456;
const DROPPED_MAX_MS = 60_000;

/** How long a refused client that waited for "100 Continue" may still begin to send. */
const UNSENT_MS = 500;

/**
 * The rest of a refused body is read and dropped before the answer ends, because the end may close the connection:
 * a client that sends first and reads later would be cut off and never see why. It has the whole answer from the start.
 */
export function endAfterRequest(
  response: HttpResponse,
  body: string | Uint8Array | undefined,
): void {
  const { req: request } = response;
  if (request.readableEnded || !hasBody(request)) {
    response.end(body);
    return;
  }
  response.flushHeaders(); // for HEAD, which writes nothing else
  if (body !== undefined) response.write(body);
  const isUnsent = waitsForContinue(request);
  const cut = isUnsent
    ? setTimeout(() => end(), UNSENT_MS)
    : setTimeout(() => request.destroy(), DROPPED_MAX_MS);
  cut.unref();
  const end = (): void => {
    clearTimeout(cut);
    response.end();
  };
  request.once("end", end).once("close", end);
  let [chunks, octets] = [0, 0];
  request.on("data", (chunk: Buffer) => {
    chunks += 1;
    octets += chunk.length;
    if (octets > DROPPED_MAX_OCTETS || isCrumbled(chunks, octets)) request.destroy();
  });
}

function headersOf(answer: ApiReply, admitted: Admitted | undefined): Record<string, string> {
  // Written out, because an object that is spread from constants is many times slower to make and to walk.
  const headers: Record<string, string> = {
    "cache-control": UNSHARED["cache-control"],
    "x-content-type-options": UNSHARED["x-content-type-options"],
    "content-type": answer.type,
  };
  if (answer.crossOrigin !== false) {
    headers["access-control-allow-origin"] = EVERY_ANSWER["access-control-allow-origin"];
    headers["access-control-expose-headers"] = EVERY_ANSWER["access-control-expose-headers"];
  }
  const rate = admitted?.rate;
  if (rate !== undefined && answer.paidBy !== "credits") {
    headers["x-ratelimit-limit"] = String(rate.limit);
    headers["x-ratelimit-remaining"] = String(rate.remaining);
  }
  if (answer.headers !== undefined) Object.assign(headers, answer.headers);
  return headers;
}

/** The refusal that a thrown value is, be it ours or a store's; undefined for a fault. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof NoRoom) return error.why === "all" ? serviceFull() : tooMuchAtOnce();
  const down = storeDownOf(error);
  if (down === undefined) return undefined;
  return down instanceof DiskFull ? diskFull() : storeUnavailable();
}

export function refused(
  error: unknown,
  route: Route | undefined,
  about?: RefusedRequest,
): ApiReply {
  const first = refusalOf(error);
  const shown = about && route?.refused?.(first, about);
  const refusal = shown instanceof Refusal ? shown : first;
  const answer = shown === undefined || shown instanceof Refusal ? asJson(refusal) : shown;
  const allow = refusal?.status === 405 && route !== undefined ? { allow: allowed(route) } : {};
  const headers = { ...refusalHeaders(refusal, answer.status), ...allow, ...answer.headers };
  return { ...answer, headers };
}

const asJson = (refusal: Refusal | undefined): ApiReply => ({
  status: refusal?.status ?? 500,
  type: JSON_TYPE,
  body: errorBody(refusal?.message ?? INTERNAL_ERROR_MESSAGE, refusal?.detail),
});

/** The headers that say why, in place of or beside the body. `status`: the one that is sent; undefined refuses for a fault. */
export function refusalHeaders(
  refusal: Refusal | undefined,
  status: number | undefined = refusal?.status,
): Readonly<Record<string, string>> {
  const { code = INTERNAL_ERROR_CODE, retryAfterSeconds, notice } = refusal ?? {};
  return {
    "gatepost-error": code,
    ...(notice !== undefined && { [NOTICE]: notice }),
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    ...(status === 401 && { "www-authenticate": "Bearer" }),
  };
}

export function errorBody(message: string, detail: Refusal["detail"] = {}): string {
  return JSON.stringify({ error: message, ...detail });
}

const allowed = ({ methods }: Route): string => [...methods, "OPTIONS"].join(", ");
