import { createBodyReader } from "../body.ts";
import type { Decode } from "../decode.ts";
import { type BuiltPages, type DashboardPages, dashboardPages } from "./dashboard-pages.ts";
import { adminEntryRoutes, type EntriesDeps } from "./admin/rule-routes.ts";
import { type AdminDeps, adminRoutes } from "./admin/admin-routes.ts";
import { type DirectoryDeps, directoryRoutes } from "./admin/directory-routes.ts";
import { adminSourceRoutes, type SourceDeps } from "./admin/feed-routes.ts";
import { sessionCookie } from "./cookie.ts";
import { type EntryDeps, entryRoutes, type ServiceInfo } from "./sign-in-routes.ts";
import { createFaultLog } from "../answer/fault-log.ts";
import { type AccountGuardDeps, accountPages } from "./guard.ts";
import { basePathOf } from "../request/target.ts";
import { type ListDeps, listRoutes } from "./own/list-routes.ts";
import { type OwnDeps, ownRoutes } from "./own/own-routes.ts";
import { exportRoute } from "./own/export-route.ts";
import { tokenSecretRoute } from "./own/key-routes.ts";
import { hookRoutes, type HookRouteDeps } from "./gate/hook-routes.ts";
import { type FeedbackDeps, feedbackRoutes } from "./gate/feedback-routes.ts";
import { type PolicyDeps, policyRoutes } from "./gate/policy-routes.ts";
import type { Tokens } from "../../gate/tokens.ts";
import { createMultipartReader } from "../api/bulk/multipart.ts";
import type { AccountRoute } from "./route.ts";
import { type WebhookDeps, webhookRoutes } from "./own/webhook-routes.ts";

interface Parts {
  readonly info: Omit<ServiceInfo, "parts">;
  /** Absent: the dashboard does not check lists. */
  readonly accountLists?: ListDeps["lists"];
  /** Absent: the dashboard has no webhooks. */
  readonly webhooks?: Omit<WebhookDeps, "audit">;
  /** Absent: the sign-up gate is no part of the dashboard. */
  readonly gate?: PolicyDeps &
    FeedbackDeps &
    HookRouteDeps & { readonly tokens: Pick<Tokens, "renewSecret"> };
  /** Absent: the API alone. */
  readonly pages?: BuiltPages;
  /** Of large bodies; absent: here. */
  readonly decodeLarge?: Decode;
}

export type DashboardDeps = Omit<EntryDeps, "info" | "logins" | "sessions"> &
  OwnDeps &
  AdminDeps &
  DirectoryDeps &
  SourceDeps &
  EntriesDeps &
  Omit<AccountGuardDeps, "bodies" | "readUpload" | "cookie" | "publicUrl" | "faultLog"> &
  Parts;

/** Every route under `/account/`. */
export function accountRoutes(deps: DashboardDeps): readonly AccountRoute[] {
  const { accountLists: lists, webhooks, gate, audit } = deps;
  const parts = [
    ...(lists === undefined ? [] : (["lists"] as const)),
    ...(webhooks === undefined ? [] : (["webhooks"] as const)),
    ...(gate === undefined ? [] : (["gate"] as const)),
  ];
  const routes = [
    ...entryRoutes({ ...deps, info: { ...deps.info, parts } }),
    ...ownRoutes(deps),
    ...(lists === undefined ? [] : listRoutes({ ...deps, lists })),
    ...(webhooks === undefined ? [] : webhookRoutes({ ...webhooks, audit })),
    ...(gate === undefined ? [] : policyRoutes({ ...deps, ...gate })),
    ...(gate === undefined ? [] : feedbackRoutes({ ...gate, operator: deps.operator, audit })),
    ...(gate === undefined ? [] : hookRoutes({ ...gate, audit })),
    ...(gate === undefined ? [] : [tokenSecretRoute({ ...gate, audit })]),
    ...adminRoutes(deps),
    ...directoryRoutes(deps),
    ...adminSourceRoutes(deps),
    ...adminEntryRoutes(deps),
  ];
  return [...routes, exportRoute(routes, deps)];
}

/** The dashboard, its pages and its API. */
export function dashboard(routes: readonly AccountRoute[], deps: DashboardDeps): DashboardPages {
  const { publicUrl } = deps.info;
  const bodies = createBodyReader(deps);
  const readUpload = createMultipartReader(deps);
  const cookie = sessionCookie(publicUrl());
  const faultLog = createFaultLog(deps.log, deps.clock);
  const api = accountPages(routes, { ...deps, publicUrl, bodies, readUpload, cookie, faultLog });
  if (deps.pages === undefined) return { pages: api, absent: () => undefined };
  const built = dashboardPages(deps.pages, basePathOf(publicUrl()), deps.isHostAllowed);
  return { ...built, pages: [...api, ...built.pages] };
}
