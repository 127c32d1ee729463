import type { Admission } from "../accounts/admission/admission.ts";
import type { UsageRecorder } from "../accounts/admission/usage-recorder.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { HttpMetrics, MetricsPage } from "../base/metrics.ts";
import type { Shares } from "../base/shares.ts";
import type { CheckOne } from "../check/single-check.ts";
import type { DashboardPages } from "./account/dashboard-pages.ts";
import type { BulkHandler } from "./api/bulk.ts";
import { checkRoute } from "./api/check.ts";
import { BodyReader } from "./body.ts";
import type { TrustedProxies } from "./client-address.ts";
import type { Decode } from "./decode.ts";
import { docsPages } from "./docs.ts";
import { createGuard, type Guard } from "./guard.ts";
import type { CompatHosts, HostCheck } from "./hosts.ts";
import { dashboardDocument, openApiDocument, type Paths } from "./openapi.ts";
import { createAccessLog, createFaultLog } from "./request-logs.ts";
import type { Route } from "./route.ts";
import { createServe } from "./routes.ts";
import type { App } from "./server.ts";
import { disposableDocumentation } from "./system/disposable-page.ts";
import { createReadiness, type Probe } from "./system/readiness.ts";
import {
  type ProcessDeps,
  processPages,
  systemDocumentation,
  systemPages,
} from "./system/system.ts";
import { basePathOf } from "./target.ts";

export interface AppDeps {
  readonly admission: Admission;
  readonly checkOne: CheckOne;
  /** Answers bulk requests under `/api/email` and `/api/domain`. */
  readonly bulk?: BulkHandler;
  readonly routes?: readonly Route[];
  /** Pages outside `/api`, the dashboard's above all. */
  readonly pages?: Partial<DashboardPages>;
  readonly pagesDocumentation?: Paths;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: HttpMetrics;
  readonly metricsPage: MetricsPage;
  readonly usage: Pick<UsageRecorder, "record">;
  readonly probes: ReadonlyMap<string, Probe>;
  readonly settings: AppSettings;
  readonly shares: Shares;
  readonly decodeLarge?: Decode;
  readonly docsViewer?: string;
}

interface AppSettings {
  readonly publicUrl: () => string;
  readonly trustedProxies: TrustedProxies;
  readonly metricsToken?: string;
  /** For `/metrics`; absent: any. */
  readonly isHostAllowed?: HostCheck;
  readonly accessLogLinesPerSecond: number;
  /** GATEPOST_COMPAT_HOSTS; absent: none. */
  readonly compatHosts?: CompatHosts;
}

const NO_HOSTS: CompatHosts = new Map();

export function buildApp(deps: AppDeps): App {
  const { settings, pages = {}, pagesDocumentation, checkOne, bulk } = deps;
  const checks = [checkRoute("email", checkOne, bulk), checkRoute("domain", checkOne, bulk)];
  const routes = [...checks, ...(deps.routes ?? [])];
  const basePath = basePathOf(settings.publicUrl());
  const own = {
    ...deps,
    failing: createReadiness(deps.probes, deps.clock),
    metricsToken: settings.metricsToken,
    isHostAllowed: settings.isHostAllowed ?? (() => true),
  };
  const system = systemPages(own, settings.publicUrl, {
    "/openapi.json": () => openApiDocument(pathsOf(routes), basePath),
    ...(pagesDocumentation !== undefined && {
      "/account/openapi.json": () => dashboardDocument(pagesDocumentation, basePath),
    }),
  });
  const serve = createServe({
    guard: guardOf(routes, deps),
    pages: [...system, ...docsPages(basePath, deps.docsViewer), ...(pages.pages ?? [])],
    ...(pages.absent !== undefined && { absent: pages.absent }),
    basePath,
    compatHosts: settings.compatHosts ?? NO_HOSTS,
    log: deps.log,
  });
  return { serve, stop: () => routes.forEach((route) => route.stop?.()) };
}

/** What most readers come for stands first. */
function pathsOf(routes: readonly Route[]): Paths {
  const sorted = routes.toSorted(
    (a, b) => Number(b.family === "decide") - Number(a.family === "decide"),
  );
  const api: readonly Paths[] = sorted.map(({ documentation }) => documentation);
  return Object.assign({}, ...api, systemDocumentation, disposableDocumentation) as Paths;
}

/** What a worker shows to its operator, and nothing else. Nothing listens yet. */
export function buildWorkerApp({ log, ...deps }: ProcessDeps & { readonly log: Log }): App {
  const serve = createServe({
    guard: undefined,
    pages: processPages(deps),
    basePath: "",
    compatHosts: NO_HOSTS,
    log,
  });
  return { serve, stop: () => undefined };
}

function guardOf(routes: readonly Route[], deps: AppDeps): Guard {
  const { admission, clock, log, metrics, usage, settings } = deps;
  return createGuard(routes, {
    admission,
    clock,
    log,
    metrics,
    trustedProxies: settings.trustedProxies,
    bodies: new BodyReader(deps),
    accessLog: createAccessLog(log, settings.accessLogLinesPerSecond),
    faultLog: createFaultLog(log, clock),
    usage,
  });
}
