import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { DocsDeps } from "./docs-app.ts";

/**
 * `/docs`: the OpenAPI document rendered. What renders it is an app of its own, made for its first reader: it
 * would be a tenth of every start, and checks do not need it.
 */
export function addDocs(app: FastifyInstance, deps: DocsDeps): void {
  let made: Promise<FastifyInstance> | undefined;
  const make = async (): Promise<FastifyInstance> => {
    const { buildDocsApp } = await import("./docs-app.ts");
    return buildDocsApp(deps);
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const docs = await (made ??= make());
    reply.hijack();
    docs.routing(request.raw, reply.raw);
  };
  app.all("/docs", handler);
  app.all("/docs/*", handler);
}
