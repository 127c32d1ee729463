import type { FastifyInstance, FastifyRequest } from "fastify";
import type { HookDesk } from "../../gate/hook-desk.ts";
import { bucketKey } from "../../accounts/admission/bucket.ts";
import { hookPayloadTooLarge, notFound, type Refusal } from "../../base/refusals.ts";
import { errorBody, refusalOf } from "../answer/answer.ts";
import { JSON_TYPE } from "../answer/route.ts";
import { clientAddress, type TrustedProxies } from "../request/client-address.ts";
import { Receiver, type ReceiverDeps } from "../request/body/receive.ts";
import { refuse } from "../system/framework.ts";

export interface HookPagesDeps extends ReceiverDeps {
  readonly hooks: Pick<HookDesk, "answer">;
  readonly trustedProxies: TrustedProxies;
}

const BODY_MAX_BYTES = 1_048_576;

/** POST /hooks/{id}: an identity system asks before it creates a user; it is answered in its own words. */
export function addHookPages(app: FastifyInstance, deps: HookPagesDeps): void {
  const { hooks, trustedProxies } = deps;
  const receiver = new Receiver(deps);
  app.post("/hooks/:id", async (request, reply) => {
    const { id } = request.params as { readonly id: string }; // the path's own
    const headers = oneLineEach(request);
    const { remoteAddress } = request.raw.socket;
    const address = clientAddress(remoteAddress, headers["x-forwarded-for"], trustedProxies);
    // Nobody has proved yet who calls: the memory is the address's.
    const received = await receiver
      .receive(request.raw, bucketKey(address), BODY_MAX_BYTES)
      .catch(refusalIn);
    if ("status" in received && !isOurs(received)) {
      return refuse(reply, received.status === 413 ? hookPayloadTooLarge() : received);
    }
    const call =
      "status" in received
        ? { unread: received.message }
        : { body: Buffer.concat(received.chunks), headers };
    const release = "status" in received ? undefined : received.release;
    const answer = await hooks.answer(id, call, address).finally(release);
    reply.header("cache-control", "no-store");
    if (answer === undefined) {
      return reply.code(404).type(JSON_TYPE).send(errorBody(notFound().message));
    }
    reply.code(answer.status);
    if (answer.body === undefined) return reply.send();
    return reply.type("application/json").send(answer.body);
  });
}

function refusalIn(error: unknown): Refusal {
  const refusal = refusalOf(error);
  if (refusal === undefined) throw error;
  return refusal;
}

/** No room for the call: the person must not suffer from it. */
const isOurs = ({ status }: Refusal): boolean => status === 429 || status === 503;

function oneLineEach({ headers }: FastifyRequest): Record<string, string | undefined> {
  const lines = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(",") : value,
  ]);
  return Object.fromEntries(lines) as Record<string, string | undefined>;
}
