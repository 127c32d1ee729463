import type { FastifyInstance, FastifyRequest } from "fastify";
import type { HookDesk } from "../../service/policy/hook-desk.ts";
import { notFound } from "../../service/refusals.ts";
import { errorBody } from "../answer/answer.ts";
import { JSON_TYPE } from "../answer/route.ts";
import { clientAddress, type TrustedProxies } from "../request/client-address.ts";

export interface HookPagesDeps {
  readonly hooks: Pick<HookDesk, "answer">;
  readonly trustedProxies: TrustedProxies;
}

/** The largest payload of the known systems is 200 KiB. */
const BODY_MAX_BYTES = 262_144;

/** POST /hooks/{id}: an identity system asks before it creates a user; it is answered in its own words. */
export function addHookPages(app: FastifyInstance, { hooks, trustedProxies }: HookPagesDeps): void {
  app.post("/hooks/:id", async (request, reply) => {
    const { id } = request.params as { readonly id: string }; // the path's own
    const body = await readBody(request);
    if (body === undefined) return reply.code(413).type(JSON_TYPE).send(errorBody("Too large."));
    const headers = oneLineEach(request);
    const { remoteAddress } = request.raw.socket;
    const address = clientAddress(remoteAddress, headers["x-forwarded-for"], trustedProxies);
    const answer = await hooks.answer(id, { body, headers }, address);
    reply.header("cache-control", "no-store");
    if (answer === undefined) {
      return reply.code(404).type(JSON_TYPE).send(errorBody(notFound().message));
    }
    reply.code(answer.status);
    if (answer.body === undefined) return reply.send();
    return reply.type("application/json").send(answer.body);
  });
}

/** The very octets, which the signature is over; undefined when there are too many. */
async function readBody({ raw }: FastifyRequest): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of raw as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function oneLineEach({ headers }: FastifyRequest): Record<string, string | undefined> {
  const lines = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(",") : value,
  ]);
  return Object.fromEntries(lines) as Record<string, string | undefined>;
}
