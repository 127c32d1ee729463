import type { FastifyInstance } from "fastify";
import type { Tokens } from "../../service/policy/tokens.ts";
import { JSON_TYPE } from "../answer/route.ts";

export interface GatePagesDeps {
  readonly tokens: Pick<Tokens, "jwks">;
}

/** GET /.well-known/jwks.json: the public keys of tokens, for every site and every backend (RFC 7517). */
export function addGatePages(app: FastifyInstance, { tokens }: GatePagesDeps): void {
  app.get("/.well-known/jwks.json", async (_, reply) =>
    reply
      .headers({ "access-control-allow-origin": "*", "cache-control": "public, max-age=300" })
      .type(JSON_TYPE)
      .send(JSON.stringify(await tokens.jwks())),
  );
}
