import Fastify, { type FastifyError, type FastifyInstance } from "fastify";
import type { Log } from "../../base/log.ts";
import type { Listener } from "./app.ts";
import { FRAMEWORK_OPTIONS, pageErrors, readNoBodies } from "../system/framework.ts";
import { addProcessRoutes, type ProcessDeps } from "../system/system.ts";

export interface WorkerAppDeps extends ProcessDeps {
  readonly log: Log;
  readonly listener: Listener;
}

/** What a worker shows to its operator, and nothing else. Nothing listens yet. */
export function buildWorkerApp({ log, listener, ...deps }: WorkerAppDeps): FastifyInstance {
  const app = Fastify({
    ...listener,
    ...FRAMEWORK_OPTIONS,
  });
  readNoBodies(app);
  const { absent, failed } = pageErrors(app, log);
  app.setNotFoundHandler(absent);
  app.setErrorHandler<FastifyError>(failed);
  addProcessRoutes(app, deps);
  return app;
}
