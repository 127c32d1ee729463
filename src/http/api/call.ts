import type { Awaitable } from "../../core/mail/lookup.ts";
import { type OwnerKey, ownerKey } from "../../base/owner.ts";
import type { Credentials, Entrance, Receipt } from "../../accounts/admission/admission.ts";
import type { HttpRequest, Route } from "../answer/route.ts";
import type { BodyReader } from "../request/body/body.ts";
import { NO_PARAMS, type Params, readParams } from "../request/params.ts";
import type { Target } from "../request/target.ts";
import { type Asked, readAsked } from "./asked.ts";
import { bodyTerms } from "./entering.ts";

/** What is known of the request so far; filled on the way. */
export interface Call {
  readonly request: HttpRequest;
  readonly target: Target;
  readonly route: Route | undefined;
  /** Of a route in another service's shape. */
  credentials?: Credentials;
  /** Of a route with a deadline. */
  deadlineMs?: number;
  entrance?: Entrance;
  /** Set when the caller was not known in time: charges it once it is known, if it was served. */
  settleLate?: (isServed: boolean) => void;
  /** The guard's own charge, for a route that charges nothing itself. */
  receipt?: Receipt;
  releaseBody?: () => void;
  /** Octets of the body, once they are read. */
  bodyOctets?: number;
  /** Once the path is read. */
  asked?: Asked;
  /** Once they are read. */
  params?: Params;
  isBodyTaken?: boolean;
  /** The status of its refusal, which another service's shape may not send. */
  refusedAs?: number;
}

/** The path is read once, at the first use. */
export const askedOf = (call: Call, route: Route): Asked =>
  (call.asked ??= readAsked(call.target.path, route));

/** No single check is in a larger body, so a refused one is read no further than this to know it. */
const SINGLE_MAX_BYTES = 16_384;

/** A body of unknown length counts as large. */
export function isLarge({ request: { headers } }: Call): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > SINGLE_MAX_BYTES;
}

export function paramsOf(
  call: Call,
  route: Route,
  bodies: BodyReader,
  owner: OwnerKey = ownerOf(call),
): Awaitable<Params> {
  const { request, target } = call;
  // Official clients of other services send a JSON body with GET.
  if (route.body === "params" && (request.method !== "GET" || route.foreign !== undefined)) {
    return readBody(call, route, bodies, owner);
  }
  if (target.query === "") return NO_PARAMS;
  return readParams({ kind: "none" }, target.query, route.parameters);
}

/** Who was not let in yet; never the owner of a body that is decoded. */
const NO_OWNER = "bucket:unknown";

const ownerOf = ({ entrance }: Call): OwnerKey =>
  entrance === undefined ? NO_OWNER : ownerKey(entrance.caller.owner);

async function readBody(
  call: Call,
  route: Route,
  bodies: BodyReader,
  owner: OwnerKey,
): Promise<Params> {
  call.isBodyTaken = true;
  const received = (octets: number): void => void (call.bodyOctets = octets);
  const terms = { owner, wanted: route.parameters, received, ...bodyTerms(route) };
  const { body, release } = await bodies.read(call.request, terms);
  call.releaseBody = release;
  return readParams(body, call.target.query, route.parameters);
}
