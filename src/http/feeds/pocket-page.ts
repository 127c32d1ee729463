import type { FastifyInstance } from "fastify";
import type { CurrentFile } from "../../service/evidence/current-file.ts";
import type { PocketFile } from "../../service/evidence/pocket.ts";
import { isHeld } from "../answer/etag.ts";

export interface PocketPageDeps {
  readonly pocket: CurrentFile<PocketFile>;
}

/**
 * GET /feeds/pocket: for every client library, with or without a key, uncounted: a library that is told "rate
 * exceeded" would be without it when it needs it. The file says nothing that a check does not.
 */
export function addPocketPage(app: FastifyInstance, { pocket }: PocketPageDeps): void {
  app.get("/feeds/pocket", async (request, reply) => {
    const { body, etag } = await pocket.current();
    reply.headers({
      etag,
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "ETag",
      "cache-control": "public, max-age=300",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
    });
    if (isHeld(request.headers["if-none-match"], etag)) return reply.code(304).send();
    return reply.type("application/octet-stream").send(body);
  });
}
