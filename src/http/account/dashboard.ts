import { createFaultLog } from "../request-logs.ts";
import { BodyReader } from "../body.ts";
import type { Decode } from "../decode.ts";
import { adminRoutes } from "./admin.ts";
import type { AccountContext, DashboardContext } from "./context.ts";
import { type BuiltPages, type DashboardPages, dashboardPages } from "./dashboard-pages.ts";
import { accountPages, sessionCookie } from "./guard.ts";
import { feedbackRoutes, hookRoutes, policyRoutes, tokenSecretRoute } from "./gate.ts";
import { listRoutes } from "./lists.ts";
import { exportRoute, keyRoutes, ownRoutes, signInRoutes } from "./own.ts";
import type { AccountRoute } from "./route.ts";
import { ruleRoutes } from "./rules.ts";
import { webhookRoutes } from "./webhooks.ts";
import { basePathOf } from "../target.ts";

export interface DashboardDeps extends DashboardContext {
  readonly pages?: BuiltPages | undefined;
  readonly decodeLarge?: Decode;
}

export function accountRoutes({ gate }: Pick<DashboardContext, "gate">): readonly AccountRoute[] {
  const routes = [
    ...signInRoutes,
    ...ownRoutes,
    ...keyRoutes,
    ...listRoutes,
    ...webhookRoutes,
    ...(gate === undefined
      ? []
      : [...policyRoutes, ...feedbackRoutes, ...hookRoutes, tokenSecretRoute]),
    ...adminRoutes,
    ...ruleRoutes,
  ];
  return [...routes, exportRoute(routes)];
}

export function dashboard(routes: readonly AccountRoute[], deps: DashboardDeps): DashboardPages {
  const publicUrl = deps.info.publicUrl();
  const api = accountPages(routes, {
    ...deps,
    bodies: new BodyReader(deps),
    context: { ...deps, ...deps.gate } as AccountContext,
    cookie: sessionCookie(publicUrl),
    faultLog: createFaultLog(deps.log, deps.clock),
  });
  if (deps.pages === undefined) return { pages: api, absent: () => undefined };
  const built = dashboardPages(deps.pages, basePathOf(publicUrl), deps.isHostAllowed);
  return { ...built, pages: [...api, ...built.pages] };
}
