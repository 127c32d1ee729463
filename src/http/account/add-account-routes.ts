import type { FastifyInstance } from "fastify";
import { type AccountGuardDeps, serve } from "./guard.ts";
import type { AccountRoute } from "./route.ts";

/** Puts the dashboard's API under `/account/`. */
export function addAccountRoutes(
  app: FastifyInstance,
  routes: readonly AccountRoute[],
  deps: AccountGuardDeps,
): void {
  for (const route of routes) {
    app.route({
      method: route.method,
      url: `/account/${route.path}`,
      handler: (request, reply) => serve(route, { request, reply }, deps),
    });
  }
}
