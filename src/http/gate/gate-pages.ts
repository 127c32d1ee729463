import type { FastifyInstance } from "fastify";
import { WIDGET } from "./widget.ts";

const SCRIPT = {
  "content-type": "text/javascript; charset=utf-8",
  "x-content-type-options": "nosniff",
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
};

/** The script of sign-up pages, under its own name and for good under the one with its hash. */
export function addGatePages(app: FastifyInstance): void {
  for (const [path, cache] of [
    ["/widget.js", "public, max-age=300"],
    [`/widget-${WIDGET.hash}.js`, "public, max-age=31536000, immutable"],
  ] as const) {
    app.get(path, (_, reply) =>
      reply.headers({ ...SCRIPT, "cache-control": cache }).send(WIDGET.source),
    );
  }
}
