import { createFaultLog } from "../request-logs.ts";
import { BodyReader } from "../body.ts";
import type { Decode } from "../decode.ts";
import { adminRoutes } from "./admin.ts";
import type { DashboardContext } from "./context.ts";
import { type BuiltPages, type DashboardPages, dashboardPages } from "./dashboard-pages.ts";
import { feedbackRoutes } from "./feedback.ts";
import { accountPages, sessionCookie } from "./guard.ts";
import { hookRoutes } from "./hooks.ts";
import { keyRoutes, tokenSecretRoute } from "./keys.ts";
import { listRoutes } from "./lists.ts";
import { exportRoute, ownRoutes } from "./own.ts";
import { policyRoutes } from "./policies.ts";
import type { AccountRoute } from "./route.ts";
import { ruleRoutes } from "./rules.ts";
import { signInRoutes } from "./sign-in.ts";
import { webhookRoutes } from "./webhooks.ts";
import { basePathOf } from "../target.ts";

export interface DashboardDeps extends DashboardContext {
  readonly pages?: BuiltPages | undefined;
  readonly decodeLarge?: Decode;
}

export function accountRoutes(context: DashboardContext): readonly AccountRoute[] {
  const { gate } = context;
  const routes = [
    ...signInRoutes(context),
    ...ownRoutes(context),
    ...keyRoutes(context.keys),
    ...listRoutes(context),
    ...webhookRoutes(context.webhooks),
    ...(gate === undefined
      ? []
      : [
          ...policyRoutes({ ...context, ...gate }),
          ...feedbackRoutes({ ...context, ...gate }),
          ...hookRoutes(gate),
          tokenSecretRoute(gate.tokens),
        ]),
    ...adminRoutes(context),
    ...ruleRoutes(context),
  ];
  return [...routes, exportRoute(routes)];
}

export function dashboard(routes: readonly AccountRoute[], deps: DashboardDeps): DashboardPages {
  const publicUrl = deps.info.publicUrl();
  const api = accountPages(routes, {
    ...deps,
    bodies: new BodyReader(deps),
    cookie: sessionCookie(publicUrl),
    faultLog: createFaultLog(deps.log, deps.clock),
  });
  if (deps.pages === undefined) return { pages: api, absent: () => undefined };
  const built = dashboardPages(deps.pages, basePathOf(publicUrl), deps.isHostAllowed);
  return { ...built, pages: [...api, ...built.pages] };
}
