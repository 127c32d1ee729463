import type { DnsLookup } from "../adapters/dns/lookup.ts";
import { memoryAnswerCache } from "../adapters/memory/answer-cache.ts";
import { memoryRateCounter } from "../adapters/memory/rate-counter.ts";
import { sqlAccounts } from "../adapters/sql/accounts.ts";
import { sqlRegistrationCache } from "../adapters/sql/registration-cache.ts";
import { lockForServing } from "../adapters/sql/serving-lock.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { createLog } from "../adapters/system/log.ts";
import { createListMetrics } from "../adapters/system/list-metrics.ts";
import { createMetrics, type Metrics } from "../adapters/system/metrics.ts";
import { loadSecretKey } from "../adapters/system/secrets.ts";
import { accountRoutes, addDashboard, type DashboardDeps } from "../http/account/dashboard.ts";
import { accountDocumentation } from "../http/account/documentation.ts";
import { type AppDeps, buildApp } from "../http/app.ts";
import type { Probe } from "../http/readiness.ts";
import { bulkHandler } from "../http/routes/bulk.ts";
import { explainRoute } from "../http/routes/explain.ts";
import { reportRoute } from "../http/routes/report.ts";
import { uploadRoute } from "../http/routes/upload.ts";
import { viewRoute } from "../http/routes/view.ts";
import type { Log } from "../ports/log.ts";
import type { RateCounter } from "../ports/rate-counter.ts";
import { callerInForce } from "../service/caller-in-force.ts";
import { createCheckOne } from "../service/check-one.ts";
import { createGate } from "../service/create-gate.ts";
import { createExplain } from "../service/explain.ts";
import type { Gate } from "../service/gate.ts";
import type { Tiers } from "../service/tiers.ts";
import { createUsageRecorder, type UsageRecorder } from "../service/usage-recorder.ts";
import { type Checker, openChecker, openDns } from "./checker.ts";
import { type Config, publicUrlOf } from "./config.ts";
import { openDashboard } from "./dashboard.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { createListener, DEFAULT_LIMITS, listen } from "./listen.ts";
import { watchDns } from "./dns-metrics.ts";
import { type Lists, openLists } from "./lists.ts";
import { type OpenBulk, openBulk } from "./open-bulk.ts";
import { type AccountStore, type Ledgers, openAccountStore, openLedgers } from "./store.ts";
import { programVersion } from "./program-version.ts";
import { systemFacts } from "./system-facts.ts";
import { readTiersFile } from "./tiers-setting.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

/** Bodies of single checks, kept while DNS allows. */
const ANSWER_CACHE_BYTES = 32 * 1_048_576;

const ACCESS_LOG_LINES_PER_SECOND = 100;

export interface Running {
  /** "http://127.0.0.1:8080", with the port that was really taken. */
  readonly url: string;
  /** Stops accepting, finishes what is under way within 30 s, writes what waits, closes everything. */
  stop(): Promise<void>;
}

/** Starts the whole embedded service; rejects with one clear sentence when it cannot. */
export async function startServer(config: Config): Promise<Running> {
  const opened = await openParts(config);
  const bulk = bulkOf(opened);
  opened.lists.onShared((shared) => bulk.use(shared));
  const parts: Parts = { ...opened, bulk };
  const limits = { ...DEFAULT_LIMITS, maxConnections: config.maxConnections };
  const app = await buildApp({ ...appDeps(parts), listener: createListener(limits) });
  const housekeeping = startHousekeeping(parts);
  await parts.webhooks.dispatcher.start("alone");
  parts.lists.start("serving");
  const listening = await listen(app, config, limits);
  parts.log.info("listening", { url: listening.url });
  const stop = async (): Promise<void> => {
    parts.log.info("stopping");
    await listening.stop();
    housekeeping.stop();
    await closeParts(parts);
    parts.log.info("stopped");
  };
  return { url: listening.url, stop };
}

async function openParts(config: Config): Promise<Omit<Parts, "bulk">> {
  const tiers = readTiersFile(config.tiersFile);
  const log = createLog({ level: config.logLevel, showAddresses: config.logAddresses });
  const store = await openAccountStore(config.dataDir);
  const { sql } = store;
  const unlock = lockForServing(config.dataDir);
  const secretKey = loadSecretKey(config.secretKey, config.dataDir);
  const metrics = createMetrics();
  const learningDns = openDns(config, "bulk");
  const listMetrics = createListMetrics(metrics.registry);
  const lists = await openLists(config, { sql, lookup: learningDns, log, metrics: listMetrics });
  const registrations = sqlRegistrationCache(sql.db);
  const { datasets } = lists;
  const checker = observed(openChecker(config, { log, registrations, datasets }), lists);
  const ledgers = openLedgers(store, log);
  const { keys, quotas, charges } = ledgers;
  const rates = memoryRateCounter();
  const gate = createGate({ keys, quotas, charges, rates, clock, tiers });
  const usage = createUsageRecorder({ usage: ledgers.usage, keys, clock, log });
  const webhooks = openWebhooks({ sql, secretKey, addresses: checker.dns.addresses, log });
  const held = { config, tiers, log, store, unlock, secretKey, metrics, learningDns };
  return { ...held, lists, checker, ledgers, rates, gate, usage, webhooks };
}

function bulkOf(parts: Omit<Parts, "bulk">): OpenBulk {
  const { config, store, ledgers, gate, tiers, checker, secretKey, log, webhooks } = parts;
  return openBulk(config, {
    sql: store.sql,
    charges: ledgers.charges,
    gate,
    tiers,
    checker,
    datasets: parts.lists.shared(),
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
  await Promise.all([parts.ledgers.quotas.flush(), parts.usage.flush()]);
  parts.checker.close();
  await parts.store.close();
  parts.unlock();
}

interface Parts {
  readonly config: Config;
  readonly tiers: Tiers;
  readonly log: Log;
  readonly store: AccountStore;
  readonly checker: Checker;
  readonly ledgers: Ledgers;
  readonly usage: UsageRecorder;
  readonly gate: Gate;
  readonly bulk: OpenBulk;
  readonly rates: RateCounter;
  readonly webhooks: Webhooks;
  readonly lists: Lists;
  readonly metrics: Metrics;
  readonly secretKey: Uint8Array;
  /** For learning alone, so that it holds up no check. */
  readonly learningDns: DnsLookup;
  readonly unlock: () => void;
}

/** The same checker, whose verdicts the lists hear of. */
function observed(checker: Checker, lists: Lists): Checker {
  return {
    ...checker,
    async check(text, mode, asked) {
      const validation = await checker.check(text, mode, asked);
      lists.observe(validation);
      return validation;
    },
  };
}

function appDeps(parts: Parts): AppDeps {
  const { config, tiers, log, store, checker, usage, gate, lists, metrics } = parts;
  const bulk = parts.bulk.service;
  const isInForce = callerInForce({
    keys: parts.ledgers.keys,
    accounts: sqlAccounts(store.sql.db),
  });
  watchDns(metrics.registry, checker.dns);
  const publicUrl = publicUrlOf(config);
  const checkOne = createCheckOne({
    gate,
    check: checker.check,
    cache: memoryAnswerCache(ANSWER_CACHE_BYTES),
    clock,
    tiers,
    publicUrl,
    datasetsVersion: () => checker.datasets().version,
  });
  const probes = probesOf(store, checker);
  const dashboard = dashboardOf(parts, probes);
  const accountPaths = accountRoutes(dashboard);
  return {
    gate,
    checkOne,
    pages: (scope) => addDashboard(scope, accountPaths, dashboard),
    pagesDocumentation: accountDocumentation(accountPaths),
    bulk: bulkHandler({ bulk, log }),
    routes: [
      viewRoute({ bulk, clock, log, isInForce }),
      uploadRoute({ bulk, log }),
      explainRoute({
        explain: createExplain({ gate, check: checker.check, datasets: checker.datasets }),
      }),
      reportRoute({ reports: lists.reports, clock }),
    ],
    usage,
    clock,
    log,
    metrics: metrics.http,
    metricsPage: metrics.page,
    probes,
    settings: {
      publicUrl,
      trustedProxies: config.trustProxy ?? [],
      logAddresses: config.logAddresses,
      accessLogLinesPerSecond: ACCESS_LOG_LINES_PER_SECOND,
      ...(config.metricsToken === undefined ? {} : { metricsToken: config.metricsToken }),
    },
  };
}

function dashboardOf(parts: Parts, probes: ReadonlyMap<string, Probe>): DashboardDeps {
  const { config, store, ledgers, checker, bulk, webhooks } = parts;
  return openDashboard({
    ...parts,
    clock,
    quotas: ledgers.quotas,
    usage: ledgers.usage,
    check: checker.check,
    datasets: checker.datasets,
    settings: {
      signup: config.signup,
      publicUrl: publicUrlOf(config),
      version: programVersion(),
      trustedProxies: config.trustProxy ?? [],
    },
    system: systemFacts({
      probes,
      clock,
      store,
      charges: ledgers.charges,
      dnsServers: config.dnsServers,
    }),
    bulk: bulk.service,
    webhooks,
  });
}

function probesOf({ sql }: AccountStore, { dns }: Checker): ReadonlyMap<string, Probe> {
  return new Map<string, Probe>([
    ["database", () => sql.answers()],
    ["dns", () => dns.probe()],
  ]);
}
