import type { FastifyInstance } from "fastify";
import { createBodyReader } from "../body.ts";
import { addDashboardPages } from "../dashboard-pages.ts";
import { addAccountRoutes } from "./add-account-routes.ts";
import { type AdminDeps, adminRoutes } from "./admin-routes.ts";
import { sessionCookie } from "./cookie.ts";
import { type EntryDeps, entryRoutes, type ServiceInfo } from "./entry-routes.ts";
import type { AccountGuardDeps } from "./guard.ts";
import { type ListDeps, listRoutes } from "./list-routes.ts";
import { type OwnDeps, ownRoutes } from "./own-routes.ts";
import type { AccountRoute } from "./route.ts";
import { type WebhookDeps, webhookRoutes } from "./webhook-routes.ts";

interface Parts {
  readonly info: Omit<ServiceInfo, "parts">;
  /** Absent: lists are no part of the dashboard. */
  readonly bulk?: ListDeps["bulk"];
  /** Absent: webhooks are no part of the dashboard. */
  readonly webhooks?: Omit<WebhookDeps, "audit">;
  /** Absolute path of the built pages; absent: the API alone. */
  readonly pagesRoot?: string;
}

export type DashboardDeps = Omit<EntryDeps, "info" | "logins" | "sessions"> &
  OwnDeps &
  AdminDeps &
  Omit<AccountGuardDeps, "bodies" | "cookie" | "publicUrl"> &
  Parts;

/** Every route under `/account/`. */
export function accountRoutes(deps: DashboardDeps): readonly AccountRoute[] {
  const { bulk, webhooks, audit, gate } = deps;
  const parts = [
    ...(bulk === undefined ? [] : ["lists"]),
    ...(webhooks === undefined ? [] : ["webhooks"]),
  ];
  return [
    ...entryRoutes({ ...deps, info: { ...deps.info, parts } }),
    ...ownRoutes(deps),
    ...(bulk === undefined ? [] : listRoutes({ gate, bulk })),
    ...(webhooks === undefined ? [] : webhookRoutes({ ...webhooks, audit })),
    ...adminRoutes(deps),
  ];
}

/** Puts the dashboard, pages and API, onto the app: for the `pages` of `buildApp`. */
export async function addDashboard(
  app: FastifyInstance,
  routes: readonly AccountRoute[],
  deps: DashboardDeps,
): Promise<void> {
  const { publicUrl } = deps.info;
  const bodies = createBodyReader();
  const cookie = sessionCookie(publicUrl);
  addAccountRoutes(app, routes, { ...deps, publicUrl, bodies, cookie });
  if (deps.pagesRoot !== undefined) await addDashboardPages(app, deps.pagesRoot);
}
