import type { Registry } from "prom-client";
import { sqlAccounts } from "../accounts/accounts-store.ts";
import type { Admission } from "../accounts/admission/admission.ts";
import { callerInForce } from "../accounts/admission/caller.ts";
import { createAdmission } from "../accounts/admission/counting-admission.ts";
import { memoryRateCounter } from "../accounts/admission/rate-counter.ts";
import { createUnitsLeft } from "../accounts/admission/units-left.ts";
import { HourCounts } from "../accounts/hour-counts.ts";
import { createUsageRecorder, type UsageRecorder } from "../accounts/admission/usage-recorder.ts";
import type { SetUp } from "../accounts/sign-in/set-up.ts";
import { type AnswerCache, memoryAnswerCache } from "../check/answer-cache.ts";
import { type CheckOne, createCheckOne } from "../check/check-one.ts";
import { createExplain } from "../check/explain.ts";
import { sqlRegistrationCache } from "../check/registration-store.ts";
import { accountRoutes, dashboard, type DashboardDeps } from "../http/account/dashboard.ts";
import { accountDocumentation } from "../http/account/documentation.ts";
import type { Route } from "../http/answer/route.ts";
import { bulkHandler } from "../http/api/bulk/bulk.ts";
import { uploadRoute } from "../http/api/bulk/upload.ts";
import { viewRoute } from "../http/api/bulk/view.ts";
import { decideRoute } from "../http/api/decide/decide.ts";
import { explainRoute } from "../http/api/explain.ts";
import { decisionsRoute, feedbackRoute } from "../http/api/feedback.ts";
import { type AppDeps, type AppSettings, buildApp } from "../http/app/app.ts";
import type { CompatDeps } from "../http/compat/compat-route.ts";
import { compatRoutes } from "../http/compat/services.ts";
import { disposablePages } from "../http/feeds/disposable-page.ts";
import { gatePages } from "../http/gate/gate-pages.ts";
import { hookPage } from "../http/hooks/hook-pages.ts";
import { createHostCheck, type HostCheck } from "../http/request/allowed-hosts.ts";
import { DEFAULT_LIMITS, type ListenTerms } from "../http/server.ts";
import type { Probe } from "../http/system/readiness.ts";
import { openPublishedLists } from "../lists/published-list.ts";
import { type OpenBulk, openBulk } from "./bulk.ts";
import { type Checker, observed, openChecker } from "./checker.ts";
import { builtFolder, openDashboard, systemFacts } from "./dashboard.ts";
import { createDnsTest } from "./dns-test.ts";
import { type Gate, openGate } from "./gate.ts";
import {
  IDLE_WORKER,
  serverDns,
  signInCounter,
  type VerdictTally,
  verdictTally,
  watchAnswerCache,
  watchDns,
  watchVerdicts,
  watchWorker,
  webhookCounter,
} from "./metrics.ts";
import { type Machine, openProcess, type Process } from "./process.ts";
import { programVersion } from "./program-files.ts";
import { openServing, type Serving, startUpkeep } from "./serving.ts";
import type { Config } from "./settings/config.ts";
import { createLinks, guessesPublicUrl, type Links } from "./settings/links.ts";
import type { Backing } from "./store.ts";
import type { Texts } from "./threads/texts.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

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
    dnsTest: createDnsTest(parts),
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

/** All that a server opens before it listens. */
export interface ServerParts extends Serving {
  readonly links: Links;
  readonly checker: Checker;
  readonly usage: UsageRecorder;
  readonly hours: HourCounts;
  readonly admission: Admission;
  readonly webhooks: Webhooks;
  readonly bulk: OpenBulk;
  readonly texts: Texts;
  readonly gate: Gate;
  /** Of single checks. */
  readonly verdicts: VerdictTally;
}

/** Everything is closed with the process. */
async function openServerParts(process: Process): Promise<ServerParts> {
  const serving = await openServing(process, "bulk");
  const { config, clock, log, closing, tiers, backing, metrics, lists, secretKey } = serving;
  const { store, ledgers, rates, requests } = backing;
  const { keys, quotas, charges } = ledgers;
  const { sql, notices } = store;
  const registrations = sqlRegistrationCache(sql.db);
  const verdicts = verdictTally();
  const { shares, trust } = serving;
  const { datasets } = lists;
  const plain = openChecker(process, { shares, trust, registrations, datasets });
  const checker = observed(plain, (validation) => {
    lists.observe(validation);
    verdicts.count(validation.result);
  });
  closing.add(() => checker.close());
  const counters = {
    rates,
    ...(requests !== undefined && { requests }),
    ...(backing.where !== "alone" && { localRates: memoryRateCounter() }),
  };
  const admission = createAdmission({ keys, quotas, charges, clock, tiers, notices, ...counters });
  const hours = new HourCounts(sql.db, { clock, log });
  closing.add(() =>
    hours.flush().catch((fault: unknown) => log.error("hours.flush_failed", fault)),
  );
  const usage = createUsageRecorder({ usage: ledgers.usage, keys, clock, log, hours });
  closing.add(() =>
    usage.flush().catch((fault: unknown) => log.error("usage.flush_failed", fault)),
  );
  const webhooks = openWebhooks(process, {
    sql,
    secretKey,
    addresses: checker.dns.everyAddress,
    sent: backing.where === "alone" ? "here" : "elsewhere",
    notices,
    counted: webhookCounter(metrics.registry),
  });
  const texts = openTexts(serving);
  const bulk = await openBulk(process, {
    split: texts.split,
    sql,
    charges,
    where: backing.where,
    startRunner: backing.startBulkRunner,
    admission,
    tiers,
    checker,
    datasets: lists.shared(),
    traffic: lists,
    secretKey,
    shares,
    onCompleted: webhooks.announce,
  });
  lists.onShared((shared) => bulk.use(shared));
  const links = createLinks(config);
  const gate = openGate({ ...serving, links, checker, admission, hours });
  const made = { links, checker, admission, usage, hours, webhooks, bulk, gate, verdicts, texts };
  return { ...serving, ...made };
}

function openTexts({ machine, shares, closing }: Serving): Texts {
  const texts = machine.openTexts(shares.of("splitting"));
  closing.add(() => texts.close());
  return texts;
}

const ACCESS_LOG_LINES_PER_SECOND = 100;

type Parts = Pick<Serving, "config" | "shares"> & { readonly links: Links };

const hostCheckOf = ({ config, links }: Omit<Parts, "shares">): HostCheck =>
  createHostCheck({
    allowed: config.allowedHosts,
    publicUrl: links.base,
    hasPublicUrl: config.publicUrl !== undefined,
    listensOn: config.host,
  });

const listenTerms = ({ shares, config }: Omit<Parts, "links">): ListenTerms => ({
  limits: DEFAULT_LIMITS,
  share: shares.of("connections"),
  trustedProxies: config.trustProxy ?? [],
});

function settingsOf({ config, links }: Omit<Parts, "shares">): AppSettings {
  return {
    publicUrl: links.base,
    isHostAllowed: hostCheckOf({ config, links }),
    trustedProxies: config.trustProxy ?? [],
    accessLogLinesPerSecond: ACCESS_LOG_LINES_PER_SECOND,
    ...(config.compatHosts === undefined ? {} : { compatHosts: config.compatHosts }),
    ...(config.metricsToken === undefined ? {} : { metricsToken: config.metricsToken }),
  };
}

type CompatParts = Pick<Serving, "backing" | "config" | "clock" | "tiers"> &
  Pick<CompatDeps, "admission">;

/** What other services' shapes are answered with. */
function compatDepsOf(
  { backing, config, clock, tiers, admission }: CompatParts,
  checkOne: CheckOne,
): CompatDeps {
  const accounts = sqlAccounts(backing.store.sql.db);
  const unitsLeft = createUnitsLeft({ usage: backing.ledgers.usage, accounts, clock, tiers });
  return { checkOne, unitsLeft, admission, clock, isOptimistic: config.compatOptimistic };
}
