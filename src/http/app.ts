import type { Log } from "../base/log.ts";
import type { MetricsPage } from "../base/metrics.ts";
import type { CheckOne } from "../check/check-one.ts";
import type { DashboardPages } from "./account/dashboard.ts";
import type { BulkHandler } from "./api/bulk.ts";
import { checkRoute } from "./api/check.ts";
import { docsPages } from "./files.ts";
import { createGuard, type GuardTerms } from "./guard.ts";
import type { CompatHosts, HostCheck } from "./hosts.ts";
import { openApiDocument } from "./operations.ts";
import type { Route } from "./route.ts";
import { createServe } from "./routes.ts";
import type { App } from "./server.ts";
import { type ProcessDeps, processPages, systemPages } from "./system/system.ts";
import { basePathOf } from "./target.ts";

export interface AppDeps extends GuardTerms {
  readonly checkOne: CheckOne;
  readonly bulk: BulkHandler;
  readonly routes?: readonly Route[];
  readonly pages?: Partial<DashboardPages>;
  readonly metricsPage: MetricsPage;
  readonly broken: ProcessDeps["broken"];
  readonly settings: GuardTerms["settings"] & {
    readonly publicUrl: () => string;
    readonly metricsToken?: string;
    readonly isHostAllowed?: HostCheck;
    readonly compatHosts?: CompatHosts;
  };
  readonly docsViewer?: string;
}

const NO_HOSTS: CompatHosts = new Map();

export function buildApp(deps: AppDeps): App {
  const { settings, pages = {}, checkOne, bulk } = deps;
  const checks = [checkRoute("email", checkOne, bulk), checkRoute("domain", checkOne, bulk)];
  const routes = [...checks, ...(deps.routes ?? [])];
  const basePath = basePathOf(settings.publicUrl());
  let isStopping = false;
  const own = {
    ...deps,
    isStopping: () => isStopping,
    metricsToken: settings.metricsToken,
    isHostAllowed: settings.isHostAllowed ?? (() => true),
  };
  const system = systemPages(own, settings.publicUrl, () => openApiDocument(basePath));
  const serve = createServe({
    guard: createGuard(routes, deps),
    pages: [...system, ...docsPages(basePath, deps.docsViewer), ...(pages.pages ?? [])],
    ...(pages.absent !== undefined && { absent: pages.absent }),
    basePath,
    compatHosts: settings.compatHosts ?? NO_HOSTS,
    isSecure: settings.publicUrl().startsWith("https:"),
    log: deps.log,
  });
  const stop = (): void => {
    isStopping = true;
  };
  return { serve, stop };
}

/** What a worker shows to its operator, and nothing else. Nothing listens yet. */
export function buildWorkerApp({ log, ...deps }: ProcessDeps & { readonly log: Log }): App {
  const serve = createServe({
    guard: undefined,
    pages: processPages(deps),
    basePath: "",
    compatHosts: NO_HOSTS,
    isSecure: false,
    log,
  });
  return { serve, stop: () => undefined };
}
