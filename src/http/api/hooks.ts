import type { HookHandler } from "../../gate/hook-handler.ts";
import { bucketKey } from "../../accounts/admission/caller.ts";
import {
  hookPayloadTooLarge,
  hookUnauthorized,
  notFound,
  rateExceeded,
  Refusal,
} from "../../base/refusals.ts";
import { refusalHeaders, refusalOf } from "../answer.ts";
import { JSON_TYPE, type RouteReply } from "../route.ts";
import { addressOf, type TrustedProxies } from "../client-address.ts";
import type { BodyReader } from "../body.ts";
import type { Page, PageRequest } from "../routes.ts";
import { RATE_WINDOW_MS } from "../../accounts/admission/counters.ts";

/** POST /hooks/{id}: an identity system asks before it creates a user; it is answered in its own words. */
export function hookPage(deps: {
  readonly bodies: BodyReader;
  readonly hooks: Pick<HookHandler, "answer">;
  readonly trustedProxies: TrustedProxies;
}): Page {
  const handle = async ({ source, response, id }: PageRequest): Promise<RouteReply> => {
    const { headers } = source;
    const clientAddress = addressOf(source, deps);
    const isSent = new Promise<boolean>((resolve) => {
      response.once("close", () => resolve(response.writableEnded && response.writableFinished));
    });
    // Nobody has proved yet who calls: the memory is the address's. What hangs must not make that of a sign-up be missing.
    const terms = {
      owner: bucketKey(clientAddress),
      maxBytes: 1_048_576,
      displaces: true,
    } as const;
    const received = await deps.bodies.receive(source, terms).catch((error: unknown) => {
      const refusal = refusalOf(error);
      // No room for the call: the person must not suffer from it.
      if (refusal?.status === 429 || refusal?.status === 503) return refusal;
      throw refusal?.status === 413 ? hookPayloadTooLarge() : error;
    });
    const [call, release] =
      received instanceof Refusal
        ? [{ unreceived: received.message }]
        : [{ body: received.bytes, headers }, received.release];
    const answer = await deps.hooks.answer(id, call, { clientAddress, isSent }).finally(release);
    if (answer === undefined) throw notFound();
    const { status, body = "" } = answer;
    const why = status === 401 || status === 429 ? refusalHeaders(unprovedCall(status, body)) : {};
    const reply = { status, headers: { "cache-control": "no-store", ...why } };
    return body === "" ? reply : { ...reply, type: JSON_TYPE, body };
  };
  return { method: "POST", path: "/hooks/:id", handle };
}

const unprovedCall = (status: 401 | 429, body: string): Refusal =>
  status === 401 ? hookUnauthorized(body) : rateExceeded(RATE_WINDOW_MS);
