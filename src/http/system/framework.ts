import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from "fastify";
import type { Log } from "../../base/log.ts";
import { methodNotAllowed, notFound, type Refusal } from "../../base/refusals.ts";
import { errorBody, refused } from "../answer/answer.ts";
import { JSON_TYPE } from "../answer/route.ts";
import { readTarget } from "../request/target.ts";

/**
 * The framework's schemas are not used. By default it loads Ajv and a compiler
 * of serializers at every start: a sixth of it.
 */
const noCompiler = () => (): never => {
  throw new Error("a route has a schema for the framework");
};

/** What every app tells the framework. */
export const FRAMEWORK_OPTIONS = {
  logController: new LogController({ disableRequestLogging: true }),
  // Who needs a query reads it: thousands of names would cost 3 ms, also on a page without parameters.
  routerOptions: { querystringParser: () => ({}) },
  exposeHeadRoutes: false,
  return503OnClosing: false,
  schemaController: {
    compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler },
  },
} satisfies FastifyServerOptions;

/** Handlers read the body themselves, so a body is not read before admission. */
export function readNoBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
}

/** Answers of pages that are not there, or failed. */
export interface PageErrors {
  readonly absent: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
  readonly failed: (
    error: FastifyError,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => FastifyReply;
}

/** To be called before the routes are added: it notes their methods, for 405. */
export function pageErrors(app: FastifyInstance, log: Log): PageErrors {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    methods.set(url, known);
    for (const name of [method].flat()) known.add(name);
  });
  return {
    absent(request, reply) {
      const allowed = methods.get(readTarget(request.originalUrl).path);
      if (allowed === undefined || allowed.has(request.method)) return refuse(reply, notFound());
      return refuse(reply.header("allow", [...allowed].join(", ")), methodNotAllowed());
    },
    failed(error, request, reply) {
      const { status = 500, type, body, headers = {} } = refused(error, undefined);
      if (status >= 500) log.error("http.page_failed", error, { method: request.method });
      return reply.code(status).headers(headers).type(type).send(body);
    },
  };
}

export function refuse(reply: FastifyReply, { status, message }: Refusal): FastifyReply {
  return reply.code(status).type(JSON_TYPE).send(errorBody(message));
}
