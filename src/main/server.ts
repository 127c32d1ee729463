import type { DnsLookup } from "../adapters/dns/lookup.ts";
import { memoryAnswerCache } from "../adapters/memory/answer-cache.ts";
import { sqlAccounts } from "../adapters/sql/account/accounts.ts";
import { sqlRegistrationCache } from "../adapters/sql/evidence/registration-cache.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { createLog } from "../adapters/system/log.ts";
import { createListMetrics } from "../adapters/system/list-metrics.ts";
import { createMetrics, type Metrics } from "../adapters/system/metrics.ts";
import { accountRoutes, addDashboard, type DashboardDeps } from "../http/account/dashboard.ts";
import { accountDocumentation } from "../http/account/documentation.ts";
import { type AppDeps, buildApp } from "../http/app/app.ts";
import type { Probe } from "../http/system/readiness.ts";
import { bulkHandler } from "../http/api/bulk.ts";
import { explainRoute } from "../http/api/explain.ts";
import { reportRoute } from "../http/api/report.ts";
import { uploadRoute } from "../http/api/upload.ts";
import { viewRoute } from "../http/api/view.ts";
import type { AnswerCache } from "../ports/process/answer-cache.ts";
import { type Checkpoint, passThrough } from "../ports/bulk/checkpoint.ts";
import type { Log } from "../ports/process/log.ts";
import { callerInForce } from "../service/admission/caller-in-force.ts";
import { createCheckOne } from "../service/check/check-one.ts";
import { createAdmission } from "../service/admission/counting-admission.ts";
import { createExplain } from "../service/check/explain.ts";
import type { Admission } from "../service/admission/admission.ts";
import type { Tiers } from "../service/admission/tiers.ts";
import { createUsageRecorder, type UsageRecorder } from "../service/upkeep/usage-recorder.ts";
import type { Backing } from "./parts/backing.ts";
import { type Checker, openChecker, openDns } from "./parts/checker.ts";
import type { Config } from "./settings/config.ts";
import { openDashboard } from "./parts/dashboard.ts";
import { type Duties, startDuties } from "./feeds/duties.ts";
import { housekeepingDuty } from "./parts/housekeeping.ts";
import { createLinks, type Links } from "./settings/links.ts";
import { createListener, DEFAULT_LIMITS, listen } from "./process/listen.ts";
import { watchDns } from "./metrics/dns-metrics.ts";
import { type Lists, openLists } from "./feeds/lists.ts";
import { type OpenBulk, openBulk } from "./parts/open-bulk.ts";
import { openBacking } from "./parts/open-backing.ts";
import { watchAnswerCache, watchProgram, webhookCounter } from "./metrics/program-metrics.ts";
import { programVersion } from "./process/program-version.ts";
import { openSecretKey } from "./settings/secret-key.ts";
import { sessionsDuty } from "./parts/sessions-duty.ts";
import { watchStores } from "./metrics/store-metrics.ts";
import { systemFacts } from "./parts/system-facts.ts";
import { readTiersFile } from "./settings/tiers-setting.ts";
import { tidyUp } from "./parts/tidy-up.ts";
import { openWebhooks, type Webhooks } from "./parts/webhooks.ts";

/** Bodies of single checks, kept while DNS allows. */
const ANSWER_CACHE_BYTES = 32 * 1_048_576;

const ACCESS_LOG_LINES_PER_SECOND = 100;

export interface Running {
  /** "http://127.0.0.1:8080", with the port that was really taken. */
  readonly url: string;
  /** Stops accepting, finishes what is under way within 30 s, writes what waits, closes everything. */
  stop(): Promise<void>;
}

/** For tests. */
export interface ServerOptions {
  readonly checkpoint?: Checkpoint;
}

/** Starts the service: all of it, or with DATABASE_URL all but bulk jobs and webhooks; rejects with one clear sentence when it cannot. */
export async function startServer(
  config: Config,
  { checkpoint = passThrough }: ServerOptions = {},
): Promise<Running> {
  const opened = await openParts(config);
  const bulk = bulkOf(opened, checkpoint);
  opened.lists.onShared((shared) => bulk.use(shared));
  const parts: Parts = { ...opened, bulk };
  const limits = { ...DEFAULT_LIMITS, maxConnections: config.maxConnections };
  const app = await buildApp({ ...appDeps(parts), listener: createListener(limits) });
  const isAlone = parts.backing.where === "alone";
  if (isAlone) await parts.webhooks.dispatcher.start("alone");
  parts.lists.start();
  const duties = startDuties(dutiesOf(parts), {
    elections: parts.backing.elections,
    log: parts.log,
  });
  const listening = await listen(app, config, limits);
  parts.links.listensOn(listening.port);
  parts.log.info("server.listening", { url: listening.url });
  const stop = async (): Promise<void> => {
    parts.log.info("server.stopping");
    await listening.stop();
    await duties.stop();
    await closeParts(parts);
    parts.log.info("server.stopped");
  };
  return { url: listening.url, stop };
}

/** Alone, the bulk thread sees to sessions itself. */
function dutiesOf(parts: Parts): Duties {
  const { backing, lists, log } = parts;
  const duties: Duties = { ...lists.duties, housekeeping: housekeepingDuty(parts) };
  return backing.where === "alone" ? duties : { ...duties, ...sessionsDuty(backing, log) };
}

async function openParts(config: Config): Promise<Omit<Parts, "bulk">> {
  const tiers = readTiersFile(config.tiersFile);
  const log = createLog({ level: config.logLevel, showAddresses: config.logAddresses });
  tidyUp(config.dataDir, log);
  const backing = await openBacking(config, log);
  const { store, ledgers, rates } = backing;
  const { sql, notices } = store;
  const secretKey = await openSecretKey(config, sql);
  const metrics = createMetrics();
  const learningDns = openDns(config, "bulk");
  const listMetrics = createListMetrics(metrics.registry);
  const lists = await openLists(config, {
    sql,
    lookup: learningDns,
    log,
    metrics: listMetrics,
    ...(backing.sharedLists !== undefined && { shared: backing.sharedLists }),
    notices,
  });
  const registrations = sqlRegistrationCache(sql.db);
  const { datasets } = lists;
  const checker = observed(openChecker(config, { log, registrations, datasets }), lists);
  const { keys, quotas, charges } = ledgers;
  const { requests } = backing;
  const counters = requests === undefined ? { rates } : { rates, requests };
  const admission = createAdmission({ keys, quotas, charges, clock, tiers, notices, ...counters });
  const usage = createUsageRecorder({ usage: ledgers.usage, keys, clock, log });
  const counted = webhookCounter(metrics.registry);
  const sent = backing.where === "alone" ? "here" : "elsewhere";
  const { addresses } = checker.dns;
  const webhooks = openWebhooks({ sql, secretKey, addresses, log, sent, counted });
  const links = createLinks(config);
  const held = { config, links, tiers, log, backing, secretKey, metrics, learningDns };
  return { ...held, lists, checker, admission, usage, webhooks };
}

function bulkOf(parts: Omit<Parts, "bulk">, checkpoint: Checkpoint): OpenBulk {
  const { config, backing, admission, tiers, checker, secretKey, log, webhooks } = parts;
  return openBulk(config, {
    sql: backing.store.sql,
    charges: backing.ledgers.charges,
    where: backing.where,
    startRunner: backing.startBulkRunner,
    checkpoint,
    admission,
    tiers,
    checker,
    datasets: parts.lists.shared(),
    traffic: parts.lists,
    secretKey,
    log,
    onCompleted: async ({ owner, stats }) => {
      if (owner.kind === "account") await webhooks.announce(owner.accountId, stats);
    },
  });
}

/** Hands work back, writes what waits and closes everything, the database last. */
async function closeParts(parts: Parts): Promise<void> {
  await parts.bulk.stop();
  await parts.webhooks.dispatcher.stop();
  await parts.lists.stop();
  parts.learningDns.close();
  await parts.usage.flush().catch((fault: unknown) => parts.log.error("usage.flush_failed", fault));
  parts.checker.close();
  await parts.backing.close();
}

interface Parts {
  readonly config: Config;
  readonly links: Links;
  readonly tiers: Tiers;
  readonly log: Log;
  readonly backing: Backing;
  readonly checker: Checker;
  readonly usage: UsageRecorder;
  readonly admission: Admission;
  readonly bulk: OpenBulk;
  readonly webhooks: Webhooks;
  readonly lists: Lists;
  readonly metrics: Metrics;
  readonly secretKey: Uint8Array;
  /** For learning alone, so that it holds up no check. */
  readonly learningDns: DnsLookup;
}

/** The same checker, whose verdicts the lists hear of. */
function observed(checker: Checker, lists: Lists): Checker {
  return {
    ...checker,
    async check(text, mode, asked, ownEvidence) {
      const validation = await checker.check(text, mode, asked, ownEvidence);
      lists.observe(validation);
      return validation;
    },
  };
}

function appDeps(parts: Parts): AppDeps {
  const { config, tiers, log, backing, checker, usage, admission, lists, links, metrics } = parts;
  const bulk = parts.bulk.service;
  const { ownEvidence } = lists;
  const isInForce = callerInForce({
    keys: backing.ledgers.keys,
    accounts: sqlAccounts(backing.store.sql.db),
  });
  const checkOne = createCheckOne({
    admission,
    check: checker.check,
    cache: watchedCache(parts),
    clock,
    tiers,
    publicUrl: links.base,
    datasetsVersion: () => checker.datasets().version,
    ownEvidence,
  });
  const probes = probesOf(backing, checker);
  const dashboard = dashboardOf(parts, probes);
  const accountPaths = accountRoutes(dashboard);
  return {
    admission,
    checkOne,
    pages: (scope) => addDashboard(scope, accountPaths, dashboard),
    pagesDocumentation: accountDocumentation(accountPaths),
    bulk: bulkHandler({ bulk, log }),
    routes: [
      viewRoute({ bulk, clock, log, isInForce }),
      uploadRoute({ bulk, log }),
      explainRoute({ explain: createExplain({ ...checker, admission, ownEvidence }) }),
      reportRoute({ reports: lists.reports, clock }),
    ],
    usage,
    clock,
    log,
    metrics: metrics.http,
    metricsPage: metrics.page,
    probes,
    settings: {
      publicUrl: links.base,
      trustedProxies: config.trustProxy ?? [],
      logAddresses: config.logAddresses,
      accessLogLinesPerSecond: ACCESS_LOG_LINES_PER_SECOND,
      ...(config.metricsToken === undefined ? {} : { metricsToken: config.metricsToken }),
    },
  };
}

/** The cache of finished answers; its figures and those of the parts are on the page of metrics. */
function watchedCache({ metrics: { registry }, checker, backing }: Parts): AnswerCache {
  const cache = memoryAnswerCache(ANSWER_CACHE_BYTES);
  watchDns(registry, checker.dns);
  watchProgram(registry, programVersion());
  watchAnswerCache(registry, () => cache.reads());
  watchStores(registry, backing);
  return cache;
}

function dashboardOf(parts: Parts, probes: ReadonlyMap<string, Probe>): DashboardDeps {
  const { config, backing, checker, bulk, webhooks, lists } = parts;
  const { store, ledgers, rates } = backing;
  return openDashboard({
    ...parts,
    store,
    rates,
    clock,
    quotas: ledgers.quotas,
    usage: ledgers.usage,
    requests: parts.usage,
    check: checker.check,
    ownEvidence: lists.ownEvidence,
    datasets: checker.datasets,
    settings: {
      signup: config.signup,
      publicUrl: parts.links.base,
      version: programVersion(),
      trustedProxies: config.trustProxy ?? [],
    },
    system: systemFacts({
      probes,
      clock,
      store,
      charges: ledgers.charges,
      engine: backing.engine,
      dnsServers: config.dnsServers,
    }),
    bulk: bulk.service,
    webhooks,
  });
}

function probesOf({ probes }: Backing, { dns }: Checker): ReadonlyMap<string, Probe> {
  return new Map<string, Probe>([...probes, ["dns", () => dns.probe()]]);
}
