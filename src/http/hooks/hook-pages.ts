import type { FastifyInstance, FastifyRequest } from "fastify";
import type { HookDesk } from "../../service/policy/hook-desk.ts";
import { bucketKey } from "../../service/admission/bucket.ts";
import { notFound } from "../../service/refusals.ts";
import { errorBody, refusalOf } from "../answer/answer.ts";
import { JSON_TYPE } from "../answer/route.ts";
import { clientAddress, type TrustedProxies } from "../request/client-address.ts";
import { type Received, Receiver, type ReceiverDeps } from "../request/body/receive.ts";
import { refuse } from "../system/framework.ts";

export interface HookPagesDeps extends ReceiverDeps {
  readonly hooks: Pick<HookDesk, "answer">;
  readonly trustedProxies: TrustedProxies;
}

/** The largest payload of the known systems is 200 KiB. */
const BODY_MAX_BYTES = 262_144;

/** POST /hooks/{id}: an identity system asks before it creates a user; it is answered in its own words. */
export function addHookPages(app: FastifyInstance, deps: HookPagesDeps): void {
  const { hooks, trustedProxies } = deps;
  const receiver = new Receiver(deps);
  app.post("/hooks/:id", async (request, reply) => {
    const { id } = request.params as { readonly id: string }; // the path's own
    const headers = oneLineEach(request);
    const { remoteAddress } = request.raw.socket;
    const address = clientAddress(remoteAddress, headers["x-forwarded-for"], trustedProxies);
    let received: Received;
    try {
      // Nobody has proved yet who calls: the memory is the address's.
      received = await receiver.receive(request.raw, bucketKey(address), BODY_MAX_BYTES);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined) throw error;
      return refuse(reply, refusal);
    }
    const call = { body: Buffer.concat(received.chunks), headers };
    const answer = await hooks.answer(id, call, address).finally(received.release);
    reply.header("cache-control", "no-store");
    if (answer === undefined) {
      return reply.code(404).type(JSON_TYPE).send(errorBody(notFound().message));
    }
    reply.code(answer.status);
    if (answer.body === undefined) return reply.send();
    return reply.type("application/json").send(answer.body);
  });
}

function oneLineEach({ headers }: FastifyRequest): Record<string, string | undefined> {
  const lines = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(",") : value,
  ]);
  return Object.fromEntries(lines) as Record<string, string | undefined>;
}
