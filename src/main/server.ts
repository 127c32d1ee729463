import type { Registry } from "prom-client";
import { type AnswerCache, memoryAnswerCache } from "../check/answer-cache.ts";
import { sqlAccounts } from "../accounts/accounts-store.ts";
import { accountRoutes, dashboard, type DashboardDeps } from "../http/account/dashboard.ts";
import { accountDocumentation } from "../http/account/documentation.ts";
import { type AppDeps, buildApp } from "../http/app/app.ts";
import type { Route } from "../http/answer/route.ts";
import type { Probe } from "../http/system/readiness.ts";
import { hookPage } from "../http/hooks/hook-pages.ts";
import { gatePages } from "../http/gate/gate-pages.ts";
import { compatRoutes } from "../http/compat/services.ts";
import { disposablePages } from "../http/feeds/disposable-page.ts";
import { bulkHandler } from "../http/api/bulk/bulk.ts";
import { decideRoute } from "../http/api/decide/decide.ts";
import { decisionsRoute, feedbackRoute } from "../http/api/feedback.ts";
import { explainRoute } from "../http/api/explain.ts";
import { uploadRoute } from "../http/api/bulk/upload.ts";
import { viewRoute } from "../http/api/bulk/view.ts";
import type { SetUp } from "../accounts/sign-in/set-up.ts";
import { callerInForce } from "../accounts/admission/caller.ts";
import { createCheckOne } from "../check/check-one.ts";
import { createExplain } from "../check/explain.ts";
import type { Backing } from "./parts/backing/backing.ts";
import type { Checker } from "./parts/checker.ts";
import type { Config } from "./settings/config.ts";
import { builtFolder, openDashboard } from "./parts/dashboard.ts";
import { guessesPublicUrl } from "./settings/links.ts";
import { compatDepsOf, listenTerms, hostCheckOf, settingsOf } from "./process/app-settings.ts";
import type { Machine } from "./process/machine.ts";
import { type Process, openProcess } from "./process/open-process.ts";
import { startUpkeep } from "./parts/serving.ts";
import { IDLE_WORKER, watchWorker } from "./metrics/worker-metrics.ts";
import { watchVerdicts } from "./metrics/verdict-metrics.ts";
import { serverDns, watchDns } from "./metrics/dns-metrics.ts";
import { openPublishedLists } from "../lists/published-list.ts";
import type { OpenBulk } from "./parts/open-bulk.ts";
import { signInCounter, watchAnswerCache } from "./metrics/program-metrics.ts";
import { programVersion } from "./process/program-version.ts";
import { systemFacts } from "./parts/system-facts.ts";
import { type ServerParts, openServerParts } from "./parts/server-parts.ts";

/** Part of GATEPOST_CACHE_MB for bodies of single checks, kept while DNS allows. */
const ANSWERS_SHARE = 1 / 4;

export interface Running {
  /** "http://127.0.0.1:8080", with the port that was really taken. */
  readonly url: string;
  /** Works once and for 30 minutes, while there is no account; it holds a secret, so it never goes to the log. */
  readonly setUpUrl?: string;
  /** Stops accepting, finishes what is under way within 30 s, writes what waits, closes everything. */
  stop(): Promise<void>;
}

/** For tests. */
export interface ServerOptions {
  readonly machine?: Machine;
}

/** Starts the service: all of it, or with DATABASE_URL all but bulk jobs and webhooks; rejects with one clear sentence when it cannot. */
export async function startServer(config: Config, options: ServerOptions = {}): Promise<Running> {
  const { log, close, ...running } = await openProcess(config, options, openServer);
  const stop = async (): Promise<void> => {
    log.info("server.stopping");
    await close();
    log.info("server.stopped");
  };
  return { ...running, stop };
}

type Listens = Pick<Running, "url" | "setUpUrl"> & Pick<Process, "log">;

async function openServer(process: Process): Promise<Listens> {
  const parts = await openServerParts(process);
  const { config, machine, backing, lists, log, closing } = parts;
  const { deps, setUp } = appDeps(parts);
  const app = buildApp(deps);
  if (backing.where === "alone") await parts.webhooks.dispatcher.start("alone");
  startUpkeep(parts, lists.duties);
  const { url, port, stop } = await machine.listen(app, config, listenTerms(parts));
  closing.add(stop);
  parts.links.listensOn(port);
  announce(url, parts);
  const setUpUrl = backing.where === "alone" ? await setUpUrlOf(setUp, parts) : undefined;
  return { url, log, ...(setUpUrl !== undefined && { setUpUrl }) };
}

/** Without an account the start shows where the first administrator is made. It works in this process alone. */
async function setUpUrlOf(
  setUp: SetUp,
  { links }: Pick<ServerParts, "links">,
): Promise<string | undefined> {
  const token = await setUp.begin();
  return token === undefined ? undefined : `${links.base()}/setup#${token}`;
}

function announce(
  url: string,
  { config, links, log }: Pick<ServerParts, "config" | "links" | "log">,
): void {
  const base = links.base();
  log.info("server.listening", { url, docs: `${base}/docs` });
  if (!guessesPublicUrl(config)) return;
  const advice = "Set GATEPOST_PUBLIC_URL to the address that clients use.";
  log.warn("server.public_url_guessed", { links: base, advice });
}

function appDeps(parts: ServerParts): { readonly deps: AppDeps; readonly setUp: SetUp } {
  const { config, clock, tiers, log, backing, checker, usage, admission } = parts;
  const { links, metrics, shares, gate } = parts;
  const { decode: decodeLarge } = parts.texts;
  const trustedProxies = config.trustProxy ?? [];
  const checkOne = createCheckOne({
    admission,
    check: checker.check,
    cache: watchedCache(parts),
    clock,
    tiers,
    publicUrl: links.base,
    // Answers kept from before the resolver became suspect are not given any more.
    datasetsVersion: () => checker.datasets().version + (checker.trust?.epoch ?? 0),
  });
  const probes = probesOf(backing, checker);
  const dashboardDeps = dashboardOf(parts, probes);
  const accountPaths = accountRoutes(dashboardDeps);
  const { pages, absent } = dashboard(accountPaths, { ...dashboardDeps, decodeLarge });
  const viewer = builtFolder("docs", "swagger-ui.css");
  const deps: AppDeps = {
    admission,
    checkOne,
    pages: {
      pages: [
        ...gatePages,
        ...disposablePages({ ...openPublishedLists(parts), admission, trustedProxies }),
        hookPage({ ...gate, trustedProxies, shares, clock }),
        ...pages,
      ],
      absent,
    },
    ...(viewer !== undefined && { docsViewer: viewer }),
    pagesDocumentation: accountDocumentation(accountPaths),
    bulk: bulkHandler({ bulk: parts.bulk.service, log }),
    routes: [...apiRoutes(parts), ...compatRoutes(compatDepsOf(parts, checkOne))],
    usage,
    clock,
    log,
    metrics: metrics.http,
    metricsPage: metrics.page,
    probes,
    shares,
    decodeLarge,
    settings: settingsOf(parts),
  };
  return { deps, setUp: dashboardDeps.setUp };
}

/** Families of paths besides `email` and `domain`. */
function apiRoutes(parts: ServerParts): readonly Route[] {
  const { clock, log, backing, checker, admission, shares, gate } = parts;
  const bulk = parts.bulk.service;
  const isInForce = callerInForce({
    keys: backing.ledgers.keys,
    accounts: sqlAccounts(backing.store.sql.db),
  });
  return [
    viewRoute({ bulk, clock, log, isInForce, shares }),
    uploadRoute({ bulk, log, clock, shares, readLarge: parts.texts.readFile }),
    explainRoute({ explain: createExplain({ ...checker, admission }) }),
    decideRoute({ decideOne: gate.decideOne }),
    feedbackRoute(gate.feedback),
    decisionsRoute(gate.decisionLog),
  ];
}

/** The cache of finished answers; its figures and those of the parts are on the page of metrics. */
function watchedCache(parts: ServerParts): AnswerCache {
  const { config, metrics } = parts;
  const { registry } = metrics;
  const cache = memoryAnswerCache(config.cacheMb * 1_048_576 * ANSWERS_SHARE);
  const { bulk, verdicts } = parts;
  watchDns(registry, () => serverDns(parts));
  watchVerdicts(registry, {
    single: verdicts.counts,
    bulk: () => bulk.figures?.()?.verdicts,
  });
  watchThread(registry, bulk);
  watchAnswerCache(registry, () => cache.reads());
  return cache;
}

/** The worker in the bulk thread, where this process has one. */
function watchThread(registry: Registry, { figures }: OpenBulk): void {
  if (figures === undefined) return;
  watchWorker(registry, "bulk-thread", { figures: () => figures()?.worker ?? IDLE_WORKER });
}

function dashboardOf(parts: ServerParts, probes: ReadonlyMap<string, Probe>): DashboardDeps {
  const { config, clock, ids, backing, checker, bulk, webhooks } = parts;
  const { store, ledgers, rates } = backing;
  return openDashboard({
    ...parts,
    store,
    rates,
    quotas: ledgers.quotas,
    usage: ledgers.usage,
    requests: parts.usage,
    countSignIn: signInCounter(parts.metrics.registry),
    check: checker.check,
    datasets: checker.datasets,
    settings: {
      signup: config.signup,
      publicUrl: parts.links.base,
      isHostAllowed: hostCheckOf(parts),
      version: programVersion(),
      trustedProxies: config.trustProxy ?? [],
    },
    system: systemFacts({
      probes,
      clock,
      ids,
      store,
      charges: ledgers.charges,
      engine: backing.engine,
      dnsServers: config.dnsServers,
      trust: checker.trust,
      dns: () => serverDns(parts),
      postponed: () => bulk.figures?.()?.worker.postponed,
      ...(config.databaseUrl === undefined && { dataDir: config.dataDir }),
    }),
    accountLists: bulk.lists,
    webhooks,
    gate: parts.gate,
  });
}

function probesOf({ probes }: Backing, { dns, trust }: Checker): ReadonlyMap<string, Probe> {
  return new Map<string, Probe>([...probes, ["dns", () => trust?.answers() ?? dns.probe()]]);
}
