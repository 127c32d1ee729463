import type { HookHandler } from "../../gate/hook-handler.ts";
import { bucketKey } from "../../accounts/admission/caller.ts";
import {
  hookPayloadTooLarge,
  hookUnauthorized,
  notFound,
  rateExceeded,
  type Refusal,
} from "../../base/refusals.ts";
import { refusalHeaders, refusalOf } from "../answer.ts";
import { JSON_TYPE, type RouteReply } from "../route.ts";
import { addressOf, type TrustedProxies } from "../client-address.ts";
import type { BodyReader } from "../body.ts";
import type { Page, PageRequest } from "../routes.ts";
import { RATE_WINDOW_MS } from "../../accounts/admission/counters.ts";

interface HookPagesDeps {
  readonly bodies: BodyReader;
  readonly hooks: Pick<HookHandler, "answer">;
  readonly trustedProxies: TrustedProxies;
}

/** POST /hooks/{id}: an identity system asks before it creates a user; it is answered in its own words. */
export function hookPage(deps: HookPagesDeps): Page {
  const handle = async ({ source, response, id }: PageRequest): Promise<RouteReply> => {
    const { headers } = source;
    const clientAddress = addressOf(source, deps);
    const isSent = new Promise<boolean>((resolve) => {
      response.once("close", () => resolve(response.writableEnded && response.writableFinished));
    });
    // Nobody has proved yet who calls: the memory is the address's. What hangs must not make that of a sign-up be missing.
    const received = await deps.bodies
      .receive(source, {
        owner: bucketKey(clientAddress),
        maxBytes: 1_048_576,
        displaces: true,
      })
      .catch(refusalIn);
    if ("status" in received && !isOurs(received)) {
      throw received.status === 413 ? hookPayloadTooLarge() : received;
    }
    const call =
      "status" in received ? { unreceived: received.message } : { body: received.bytes, headers };
    const release = "status" in received ? undefined : received.release;
    const answer = await deps.hooks.answer(id, call, { clientAddress, isSent }).finally(release);
    if (answer === undefined) throw notFound();
    const { status, body = "" } = answer;
    const why = status === 401 || status === 429 ? refusalHeaders(unprovedCall(status, body)) : {};
    const said = { "cache-control": "no-store", ...why };
    return body === ""
      ? { status, headers: said }
      : { status, headers: said, type: JSON_TYPE, body };
  };
  return { method: "POST", path: "/hooks/:id", handle };
}

const unprovedCall = (status: 401 | 429, body: string): Refusal =>
  status === 401 ? hookUnauthorized(body) : rateExceeded(RATE_WINDOW_MS);

function refusalIn(error: unknown): Refusal {
  const refusal = refusalOf(error);
  if (refusal === undefined) throw error;
  return refusal;
}

/** No room for the call: the person must not suffer from it. */
const isOurs = ({ status }: Refusal): boolean => status === 429 || status === 503;
