import type { FastifyInstance } from "fastify";
import type { Tokens } from "../../service/policy/tokens.ts";
import { JSON_TYPE } from "../answer/route.ts";
import { WIDGET } from "./widget.ts";

export interface GatePagesDeps {
  readonly tokens: Pick<Tokens, "jwks">;
}

const SCRIPT = {
  "content-type": "text/javascript; charset=utf-8",
  "x-content-type-options": "nosniff",
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
};

/**
 * For every site and every backend: the public keys of tokens (RFC 7517) at /.well-known/jwks.json, and the script
 * of sign-up pages, under its own name and for good under the one with its hash.
 */
export function addGatePages(app: FastifyInstance, { tokens }: GatePagesDeps): void {
  app.get("/.well-known/jwks.json", async (_, reply) =>
    reply
      .headers({ "access-control-allow-origin": "*", "cache-control": "public, max-age=300" })
      .type(JSON_TYPE)
      .send(JSON.stringify(await tokens.jwks())),
  );
  for (const [path, cache] of [
    ["/widget.js", "public, max-age=300"],
    [`/widget-${WIDGET.hash}.js`, "public, max-age=31536000, immutable"],
  ] as const) {
    app.get(path, (_, reply) =>
      reply.headers({ ...SCRIPT, "cache-control": cache }).send(WIDGET.source),
    );
  }
}
