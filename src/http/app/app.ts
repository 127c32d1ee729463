import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { HttpMetrics, MetricsPage } from "../../base/metrics.ts";
import type { Shares } from "../../base/shares.ts";
import type { CheckOne } from "../../check/check-one.ts";
import type { Admission } from "../../accounts/admission/admission.ts";
import type { UsageRecorder } from "../../accounts/admission/usage-recorder.ts";
import type { DashboardPages } from "../account/dashboard-pages.ts";
import { createAccessLog } from "../answer/access-log.ts";
import { createBodyReader } from "../body.ts";
import type { Decode } from "../decode.ts";
import type { CompatHosts } from "../request/compat-hosts.ts";
import type { HostCheck } from "../request/allowed-hosts.ts";
import type { TrustedProxies } from "../request/client-address.ts";
import { createFaultLog } from "../answer/fault-log.ts";
import { createGuard, type Guard } from "../guard.ts";
import { docsPages } from "../docs.ts";
import { dashboardDocument, openApiDocument } from "../openapi/openapi.ts";
import type { PathItem } from "../answer/operation.ts";
import { createReadiness, type Probe } from "../system/readiness.ts";
import type { Route } from "../answer/route.ts";
import { domainCheckDocumentation, emailCheckDocumentation } from "../api/check-documentation.ts";
import { type BulkHandler, checkRoute } from "../api/check.ts";
import { createServe } from "../routes.ts";
import type { App } from "../server.ts";
import { systemDocumentation } from "../system/system-documentation.ts";
import { type ProcessDeps, processPages, systemPages } from "../system/system.ts";
import { basePathOf } from "../request/target.ts";

export interface AppDeps {
  readonly admission: Admission;
  readonly checkOne: CheckOne;
  /** Answers bulk requests under `/api/email` and `/api/domain`. */
  readonly bulk?: BulkHandler;
  /** Families besides `email` and `domain`. */
  readonly routes?: readonly Route[];
  /** Pages outside `/api`, the dashboard's above all. */
  readonly pages?: Partial<DashboardPages>;
  /** Those pages' own API, for `/account/openapi.json`. */
  readonly pagesDocumentation?: Readonly<Record<string, PathItem>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: HttpMetrics;
  readonly metricsPage: MetricsPage;
  /** Counts requests for the accounts' charts. */
  readonly usage: Pick<UsageRecorder, "record">;
  /** Name -> does it answer; for `/readyz`. */
  readonly probes: ReadonlyMap<string, Probe>;
  readonly settings: AppSettings;
  readonly shares: Shares;
  /** Of large bodies; absent: here. */
  readonly decodeLarge?: Decode;
  /** The folder of the API documentation's viewer. */
  readonly docsViewer?: string;
}

export interface AppSettings {
  /** The base of links; for requests, as nothing listens before. */
  readonly publicUrl: () => string;
  /** GATEPOST_TRUST_PROXY, read by `readTrustedProxies`. */
  readonly trustedProxies: TrustedProxies;
  /** GATEPOST_METRICS_TOKEN. */
  readonly metricsToken?: string;
  /** For `/metrics`; absent: any. */
  readonly isHostAllowed?: HostCheck;
  /** Lines of the access log in one second. */
  readonly accessLogLinesPerSecond: number;
  /** GATEPOST_COMPAT_HOSTS; absent: none. */
  readonly compatHosts?: CompatHosts;
}

const ANY_HOST: HostCheck = () => true;
const NO_HOSTS: CompatHosts = new Map();

/** The whole HTTP face. Nothing listens yet. */
export function buildApp(deps: AppDeps): App {
  const { settings, pages = {}, pagesDocumentation } = deps;
  const routes = routesOf(deps);
  const basePath = basePathOf(settings.publicUrl());
  const system = systemPages({
    clock: deps.clock,
    readiness: createReadiness(deps.probes, deps.clock),
    metrics: deps.metrics,
    metricsPage: deps.metricsPage,
    metricsToken: settings.metricsToken,
    isHostAllowed: settings.isHostAllowed ?? ANY_HOST,
    openApi: () => JSON.stringify(openApiDocument(routes, systemDocumentation, basePath)),
    publicUrl: settings.publicUrl,
    ...(pagesDocumentation !== undefined && {
      dashboardApi: () => JSON.stringify(dashboardDocument(pagesDocumentation, basePath)),
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

function routesOf({ checkOne, bulk, routes = [] }: AppDeps): readonly Route[] {
  const shared = { checkOne, ...(bulk === undefined ? {} : { bulk }) };
  return [
    checkRoute("email", { ...shared, documentation: emailCheckDocumentation }),
    checkRoute("domain", { ...shared, documentation: domainCheckDocumentation }),
    ...routes,
  ];
}

function guardOf(routes: readonly Route[], deps: AppDeps): Guard {
  const { admission, clock, log, metrics, usage, settings } = deps;
  const accessLog = createAccessLog({
    log,
    linesPerSecond: settings.accessLogLinesPerSecond,
  });
  const { trustedProxies } = settings;
  const bodies = createBodyReader(deps);
  return createGuard(routes, {
    admission,
    clock,
    log,
    metrics,
    trustedProxies,
    bodies,
    accessLog,
    faultLog: createFaultLog(log, clock),
    usage,
  });
}
