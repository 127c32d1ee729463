import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
  type FastifyServerOptions,
} from "fastify";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { HttpMetrics, MetricsPage } from "../../base/metrics.ts";
import type { Shares } from "../../base/shares.ts";
import type { CheckOne } from "../../check/check-one.ts";
import type { Admission } from "../../accounts/admission/admission.ts";
import type { UsageRecorder } from "../../accounts/admission/usage-recorder.ts";
import { badRequest, notFound, type Refusal } from "../../base/refusals.ts";
import { createAccessLog } from "../answer/access-log.ts";
import { createBodyReader } from "../request/body/body.ts";
import type { Decode } from "../request/body/decode.ts";
import { sharedPages } from "./pages-share.ts";
import { atCompatHost, type CompatHosts } from "../request/compat-hosts.ts";
import type { HostCheck } from "../request/allowed-hosts.ts";
import type { TrustedProxies } from "../request/client-address.ts";
import { createFaultLog } from "../answer/fault-log.ts";
import { FRAMEWORK_OPTIONS, pageErrors, readNoBodies, refuse } from "../system/framework.ts";
import { createGuard, type Guard } from "../api/guard.ts";
import { dashboardDocument, openApiDocument } from "../openapi/openapi.ts";
import type { PathItem } from "../answer/operation.ts";
import { createReadiness, type Probe } from "../system/readiness.ts";
import type { Route } from "../answer/route.ts";
import { domainCheckDocumentation, emailCheckDocumentation } from "../api/check-documentation.ts";
import { type BulkHandler, checkRoute } from "../api/check.ts";
import { addDocs } from "../system/docs.ts";
import { systemDocumentation } from "../system/system-documentation.ts";
import { addSystemRoutes } from "../system/system.ts";
import { isApiPath, readTarget } from "../request/target.ts";

export interface AppDeps {
  readonly admission: Admission;
  readonly checkOne: CheckOne;
  /** Answers bulk requests under `/api/email` and `/api/domain`. */
  readonly bulk?: BulkHandler;
  /** Families besides `email` and `domain`. */
  readonly routes?: readonly Route[];
  /** Pages outside `/api`, the dashboard's above all. */
  readonly pages?: (app: FastifyInstance) => Promise<void>;
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
  /** Absent in tests that inject requests. */
  readonly listener?: Listener;
}

/** The listening server, with its limits, and the answers to invalid requests. */
export interface Listener {
  readonly serverFactory: FastifyServerFactory;
  readonly clientErrorHandler: NonNullable<FastifyServerOptions["clientErrorHandler"]>;
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

/** The one path that the router sees for everything under `/api` and `/compat`: the guard reads the true target. */
const API_ENTRANCE = "/api";

/** The whole HTTP face. Nothing listens yet. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const { settings, listener } = deps;
  const routes = routesOf(deps);
  const guard = guardOf(routes, deps);
  const { compatHosts = NO_HOSTS } = settings;
  const app = Fastify({
    ...(listener !== undefined && besideFramework(listener, guard, deps)),
    ...FRAMEWORK_OPTIONS,
    rewriteUrl: ({ url = "/", headers }) => {
      if (url.startsWith("/api/")) return API_ENTRANCE;
      const { path, query } = atCompatHost(readTarget(url), headers.host, compatHosts);
      if (isApiPath(path)) return API_ENTRANCE;
      if (path === "*") return "/*"; // no page, though the router would find the first one
      return query === "" ? path : `${path}?${query}`;
    },
    frameworkErrors: (error, _, reply) => void refuse(reply, refusalFor(error)),
  });
  // Fastify adds a charset, which RFC 8259 does not define and some clients do not accept.
  app.addHook("onSend", (_, reply, payload, done) => {
    if (String(reply.getHeader("content-type")).startsWith("application/json;")) {
      reply.header("content-type", "application/json");
    }
    done(null, payload);
  });
  readNoBodies(app);
  addErrorHandlers(app, guard, deps);
  app.route({
    method: ["GET", "POST", "DELETE", "OPTIONS"],
    url: API_ENTRANCE,
    handler: (request, reply) => answerApi(guard, request, reply),
  });
  const openApi = (): string => JSON.stringify(openApiDocument(routes, systemDocumentation));
  const { pagesDocumentation } = deps;
  await app.register(async (scope) => {
    addSystemRoutes(scope, {
      readiness: createReadiness(deps.probes, deps.clock),
      metrics: deps.metrics,
      metricsPage: deps.metricsPage,
      metricsToken: settings.metricsToken,
      isHostAllowed: settings.isHostAllowed ?? ANY_HOST,
      openApi,
      publicUrl: settings.publicUrl,
      ...(pagesDocumentation !== undefined && {
        dashboardApi: () => JSON.stringify(dashboardDocument(pagesDocumentation)),
      }),
    });
  });
  addDocs(app, { openApi, log: deps.log });
  if (deps.pages !== undefined) await app.register(deps.pages);
  app.addHook("preClose", async () => routes.forEach((route) => route.stop?.()));
  return app;
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
  const { trustedProxies, compatHosts = NO_HOSTS } = settings;
  const bodies = createBodyReader(deps);
  return createGuard(routes, {
    admission,
    clock,
    log,
    metrics,
    trustedProxies,
    compatHosts,
    bodies,
    accessLog,
    faultLog: createFaultLog(log, clock),
    usage,
  });
}

/** Requests under `/api` go to their guard at once, without the framework's router. */
function besideFramework(
  listener: Listener,
  guard: Guard,
  { shares, clock, settings: { trustedProxies, compatHosts = NO_HOSTS } }: AppDeps,
): Listener {
  return {
    ...listener,
    serverFactory: (handler, options) => {
      const pages = sharedPages(handler, { share: shares.of("pages"), trustedProxies, clock });
      return listener.serverFactory((request, response) => {
        const { url = "/", headers } = request;
        if (url.startsWith("/api/")) void guard(request, response, url);
        else if (isApi(url, headers.host, compatHosts)) handler(request, response);
        else pages(request, response);
      }, options);
    },
  };
}

/** What comes by the framework all the same: a target in absolute form, a request of a test without a listener. */
function answerApi(guard: Guard, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  void guard(request.raw, reply.raw, request.originalUrl);
}

function addErrorHandlers(app: FastifyInstance, guard: Guard, { log, settings }: AppDeps): void {
  const { absent, failed } = pageErrors(app, log);
  const { compatHosts = NO_HOSTS } = settings;
  const isForApi = ({ originalUrl, headers }: FastifyRequest): boolean =>
    isApi(originalUrl, headers.host, compatHosts);
  app.setNotFoundHandler((request, reply) =>
    isForApi(request) ? answerApi(guard, request, reply) : absent(request, reply),
  );
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    return isForApi(request) ? answerApi(guard, request, reply) : failed(error, request, reply);
  });
}

const isApi = (url: string, host: string | undefined, compatHosts: CompatHosts): boolean =>
  isApiPath(atCompatHost(readTarget(url), host, compatHosts).path);

/** The router's complaints about a path outside `/api`: nothing can be there. */
const refusalFor = ({ statusCode }: FastifyError): Refusal =>
  statusCode === 414 ? notFound() : badRequest();
