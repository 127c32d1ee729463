import { Accounts } from "../accounts/accounts-store.ts";
import { createAdmission } from "../accounts/admission/admission.ts";
import { AuditLog } from "../accounts/audit.ts";
import { createUnitsLeft } from "../accounts/allowance.ts";
import { UsageRecorder } from "../accounts/admission/usage-recorder.ts";
import type { Health } from "../base/health.ts";
import { Keys } from "../accounts/key-store.ts";
import { type CheckOne, createCheckOne } from "../check/check-one.ts";
import { KeptResults } from "../check/kept-answers.ts";
import { createExplain } from "../check/explain.ts";
import { sqlRegistrationCache } from "../check/registration-store.ts";
import { dashboard, type DashboardDeps } from "../http/account/dashboard.ts";
import type { Route } from "../http/route.ts";
import { type BulkHandler, bulkHandler } from "../http/api/bulk.ts";
import { uploadRoute } from "../http/api/upload.ts";
import { viewRoute } from "../http/api/view.ts";
import { decideRoute } from "../http/api/decide.ts";
import { explainRoute } from "../http/api/explain.ts";
import { auditRoute } from "../http/api/audit.ts";
import { decisionsRoute, feedbackRoute } from "../http/api/feedback.ts";
import { watchRoute } from "../http/api/watch.ts";
import { mailboxesRoute } from "../http/api/mailboxes.ts";
import { buildApp } from "../http/app.ts";
import { compatRoutes } from "../http/compat/services.ts";
import { disposablePages } from "../http/system/disposable-page.ts";
import { gatePages } from "../http/system/widget.ts";
import { hookPage } from "../http/api/hooks.ts";
import { BodyReader } from "../http/body.ts";
import { unknownProxy } from "../http/client-address.ts";
import { createHostHeaderCheck } from "../http/hosts.ts";
import { DEFAULT_LIMITS } from "../http/server.ts";
import { createSecretBox } from "../base/secrets.ts";
import { Decider, type DecideDeps } from "../gate/decide-one.ts";
import { DecisionLog } from "../gate/decision-log.ts";
import { Feedback } from "../gate/feedback.ts";
import { HookHandler, type HookHandlerDeps } from "../gate/hook-handler.ts";
import { createHookKeys } from "../gate/hook-signatures.ts";
import { Hooks, HookService } from "../gate/hooks.ts";
import { OutcomeRecorder, Outcomes } from "../gate/outcomes.ts";
import { createFindMailbox } from "../gate/mailbox-ids.ts";
import { createProofs } from "../gate/proof/proof.ts";
import { createFetchJson } from "../gate/published-json.ts";
import { PolicyService } from "../gate/policies.ts";
import { PolicyStore } from "../gate/policy-store.ts";
import { createFindPolicies, createTestPolicy } from "../gate/rulings.ts";
import { createTokens } from "../gate/tokens.ts";
import { TrafficStore } from "../gate/traffic-store.ts";
import {
  type AccountHash,
  createAccountHash,
  mailboxKey,
  type TrafficOwner,
} from "../gate/traffic-marks.ts";
import { FRESH_MS, Traffic } from "../gate/traffic.ts";
import { SendAlerts } from "../gate/send-alerts.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { createPublicHostCheck } from "../outbound/dial.ts";
import { openPublishedLists } from "../lists/published-list.ts";
import { openBulk } from "./bulk.ts";
import { type Checker, openChecker } from "./checker.ts";
import { builtFolder, builtPages, openAccounts, systemFacts } from "./dashboard.ts";
import { createDnsTest } from "./dns-test.ts";
import { openHealth } from "./health.ts";
import {
  ANSWER_CACHE,
  decisionCounter,
  DNS,
  HEALTH,
  eventCounter,
  VerdictTally,
  VERDICTS,
  watch,
  WORKER,
} from "./metrics.ts";
import { flushLast, type Machine, openProcess, type Process } from "./process.ts";
import { programVersion } from "./program-files.ts";
import { openServing, type Serving, startUpkeep } from "./serving.ts";
import { type Config, guessesPublicUrl, publicUrlOf } from "./settings/config.ts";
import { openWatch } from "./watch.ts";
import { openWebhooks } from "./webhooks.ts";
import { memoryRateCounter } from "../accounts/admission/counters.ts";

/** Part of GATEPOST_CACHE_MB for bodies of single checks, kept while DNS allows. */
const ANSWERS_SHARE = 1 / 4;

export interface Running {
  readonly url: string;
  /** Works once and for 30 minutes, while there is no administrator; it holds a secret, so it never goes to the log. */
  readonly setUpUrl?: string;
  /** Stops accepting, finishes what is under way within 30 s, writes what waits, closes everything. */
  stop(): Promise<void>;
}

/** Starts the service: all of it, or with DATABASE_URL all but bulk jobs and webhooks; rejects with one clear sentence when it cannot. */
export async function startServer(
  config: Config,
  options: { readonly machine?: Machine } = {},
): Promise<Running> {
  const { log, close, ...running } = await openProcess(config, options, openServer);
  const stop = async (): Promise<void> => {
    log.info("server.stopping");
    await close();
    log.info("server.stopped");
  };
  return { ...running, stop };
}

/** Opens one part after the other, each on those before it; the process closes them in reverse. */
async function openServer(process: Process) {
  const { config, machine, log, closing } = process;
  const parts = await openParts(process);
  const { serving, links, webhooks } = parts;
  const { backing, lists, shares } = serving;
  const { app, setUp, health } = appOf(process, parts);
  const trustedProxies = config.trustProxy ?? [];
  if (backing.where === "alone") await webhooks.dispatcher.start("alone");
  startUpkeep(process, serving, { ...lists.duties, ...parts.watching.duties(health) });
  const { counted } = serving;
  const serve: typeof app.serve = (request, response) => {
    const proxy = unknownProxy(request, trustedProxies);
    if (proxy !== undefined) Object.assign(counted, { proxy, forwarded: counted.forwarded + 1 });
    app.serve(request, response);
  };
  const { url, port, stop } = await machine.listen({ ...app, serve }, config, {
    limits: DEFAULT_LIMITS,
    share: shares.of("connections"),
    trustedProxies,
  });
  closing.add(stop);
  links.base = publicUrlOf({ ...config, port });
  log.info("server.listening", { url, docs: `${links.base}/docs` });
  if (guessesPublicUrl(config)) {
    const advice = "Set GATEPOST_PUBLIC_URL to the address that clients use.";
    log.warn("server.public_url_guessed", { links: links.base, advice });
  }
  const token = await setUp.begin();
  return { url, log, ...(token !== undefined && { setUpUrl: `${links.base}/setup#${token}` }) };
}

type ServiceParts = Awaited<ReturnType<typeof openParts>>;

async function openParts(process: Process) {
  const { machine, closing } = process;
  const common = await openCommon(process);
  const { serving, checker, admission, webhooks } = common;
  const { tiers, backing, secretKey, shares, lists } = serving;
  const texts = machine.openTexts(shares);
  closing.add(() => texts.close());
  const bulk = await openBulk(process, {
    where: backing.where,
    sql: backing.store.sql,
    jobs: backing.jobs,
    admission,
    tiers,
    checker,
    recorder: lists.recorder,
    datasets: lists.shared(),
    secretKey,
    announcement: webhooks.dispatcher.announcement,
    shares,
    split: texts.split,
    lists: texts.lists,
  });
  lists.onShared((shared) => bulk.thread?.use(shared));
  return { ...common, texts, bulk, gate: openGate(process, common) };
}

type CommonParts = Awaited<ReturnType<typeof openCommon>>;

async function openCommon(process: Process) {
  const { config, clock, ids, log } = process;
  const serving = await openServing(process, "bulk");
  const { tiers, backing, secretKey, metrics } = serving;
  const { where, store, usage, quotas, charges, rates, requests } = backing;
  const { sql, notices } = store;
  const { db } = sql;
  const stores = { keys: new Keys(db), accounts: new Accounts(db) };
  const base = { db, clock, ids, log, notices, tiers, ...stores };
  const verdicts = new VerdictTally();
  const checker = checkerOf(process, serving, verdicts);
  const localRates = where === "alone" ? rates : memoryRateCounter();
  const admission = createAdmission({ ...base, rates, localRates, requests, quotas, charges });
  const charts = new UsageRecorder({ ...base, usage });
  flushLast(process, "usage.flush_failed", charts);
  const webhooks = openWebhooks(process, {
    sql,
    secretKey,
    addresses: checker.dns.everyAddress,
    elsewhere: where === "alone" ? undefined : notices,
    counted: eventCounter(metrics.registry, "webhooks"),
  });
  /** The base of links is known for good once the service listens: port 0 takes any free one. */
  const links = { base: publicUrlOf(config) };
  const publicUrl = (): string => links.base;
  const counted = { verdicts, charts };
  const watching = openWatch(process, { serving, checker, webhooks });
  return { serving, base, links, publicUrl, checker, admission, counted, webhooks, watching };
}

function checkerOf(process: Process, serving: Serving, verdicts: VerdictTally): Checker {
  const { backing, lists, trust, shares } = serving;
  const { datasets, recorder } = lists;
  return openChecker(process, {
    datasets,
    registrations: sqlRegistrationCache(backing.store.sql.db),
    trust,
    shares,
    seen(validation) {
      recorder.record(validation);
      verdicts.count(validation.result);
    },
  });
}

function openGate(process: Process, parts: CommonParts) {
  const { serving, base, checker, admission, publicUrl } = parts;
  const { backing, secretKey, metrics } = serving;
  const { reportOutcomes } = backing.store;
  const { clock, db } = base;
  const box = createSecretBox(secretKey);
  const [hooks, outcomes] = [new Hooks(db), new Outcomes(db)];
  const tokens = createTokens({ ...base, box, publicUrl });
  const policies = createFindPolicies({ ...base, store: new PolicyStore(db) });
  const hash = createAccountHash(mailboxKey(secretKey));
  const { datasets, budgeted: check, withoutDns: checkWithoutDns, dns } = checker;
  const counted = eventCounter(metrics.registry, "feedback");
  const decisionLog = new DecisionLog({ ...base, hash });
  const feedback = new Feedback({ ...base, datasets, hash, counted });
  const { traffic, noticeWave } = openTraffic(process, parts, hash);
  // Accounts, tokens and DNS name these URLs, so nothing that the operator allows to others is allowed here.
  const outbound = createOutbound({ addresses: dns.everyAddress, clock });
  const fetchJson = createFetchJson(outbound, clock);
  const { decideOne, decideOnKnown } = new Decider({
    ...base,
    admission,
    check,
    checkWithoutDns,
    datasets,
    policies,
    hash,
    traffic,
    noticeWave,
    feedback,
    record: recorderOf(process, parts, { outcomes, decisionLog }),
    sign: tokens.sign,
    prove: createProofs({ lookup: dns, fetchJson, clock }),
    publicUrl,
  });
  const handler = new HookHandler({
    ...base,
    decideOne,
    decideOnKnown,
    hooks,
    box,
    jwks: createHookKeys(fetchJson, clock),
    admission,
    counted: hookCounterOf(parts),
  });
  flushLast(process, "hooks.flush_failed", handler);
  const checkHost = createPublicHostCheck({ addresses: dns.everyAddress, clock });
  return {
    decideOne,
    decisionLog,
    feedback,
    hash,
    tokens,
    policies: new PolicyService(base),
    testPolicy: createTestPolicy({ check: checker.budgeted, datasets: checker.datasets }),
    reportOutcomes,
    hookService: new HookService({ ...base, hooks, box, publicUrl, checkHost }),
    hooks: handler,
  };
}

function openTraffic(
  process: Process,
  { serving: { backing, metrics }, base, webhooks: { dispatcher }, watching }: CommonParts,
  hash: AccountHash,
) {
  const freshness = backing.where === "alone" ? {} : { freshMs: FRESH_MS };
  const store = new TrafficStore(base.db, base.clock);
  const traffic = new Traffic({ ...base, store, ...freshness });
  flushLast(process, "traffic.flush_failed", traffic);
  const counted = eventCounter(metrics.registry, "waves");
  const { announce, announcement } = dispatcher;
  const telling = { announce, announced: announcement.written, counted };
  const waves = new SendAlerts({ ...base, traffic, hash, ...telling });
  process.closing.add(waves.start());
  const noticeWave = (owner: TrafficOwner): void => {
    waves.noticed(owner);
    watching.alerts.notice(owner.accountId, "wave");
  };
  return { traffic, noticeWave };
}

function hookCounterOf({
  serving: { metrics, counted },
  watching: { alerts },
}: CommonParts): HookHandlerDeps["counted"] {
  const calls = eventCounter(metrics.registry, "hooks");
  return (system, outcome, accountId) => {
    counted.hookCalls += 1;
    if (outcome === "failed_open") {
      counted.failedOpen += 1;
      alerts.notice(accountId, "failed_open");
    }
    calls(system, outcome);
  };
}

function recorderOf(
  process: Process,
  { serving: { metrics }, base, watching: { alerts } }: CommonParts,
  { outcomes, decisionLog }: { readonly outcomes: Outcomes; readonly decisionLog: DecisionLog },
): DecideDeps["record"] {
  const recorder = new OutcomeRecorder({ ...base, outcomes });
  flushLast(process, "decisions.flush_failed", recorder);
  flushLast(process, "decisions.log_failed", decisionLog);
  const counted = decisionCounter(metrics.registry);
  return (caller, made) => {
    recorder.record(caller, made);
    decisionLog.note(caller, made);
    const { owner } = caller;
    if (owner.kind === "account") alerts.noticeDecision(owner.accountId, made);
    counted(made);
  };
}

function appOf(process: Process, parts: ServiceParts) {
  const { config, clock, log } = process;
  const { serving, admission, counted, publicUrl, texts, gate } = parts;
  const { metrics, shares, lists } = serving;
  watchParts(parts);
  const health = watchHealth(process, parts);
  const checkOne = checkOneOf(process, parts);
  const checkList = bulkHandler(parts.bulk.service, log);
  const trustedProxies = config.trustProxy ?? [];
  const isHostAllowed = createHostHeaderCheck({
    allowed: config.allowedHosts,
    publicUrl,
    hasPublicUrl: config.publicUrl !== undefined,
    listensOn: config.host,
  });
  const bodies = new BodyReader({ shares, clock, decodeLarge: texts.decode });
  const pagesDeps = dashboardOf(process, parts, { bodies, health, isHostAllowed });
  const account = dashboard(pagesDeps);
  const published = openPublishedLists({ lists, clock, log });
  const pages = [
    ...gatePages,
    ...disposablePages({ ...published, admission, trustedProxies }),
    hookPage({ ...gate, trustedProxies, bodies }),
    ...account.pages,
  ];
  const { compatHosts, metricsToken } = config;
  const docsViewer = builtFolder("docs", "swagger-ui.css");
  const app = buildApp({
    admission,
    checkOne,
    pages: { pages, absent: account.absent },
    ...(docsViewer !== undefined && { docsViewer }),
    bulk: checkList,
    routes: apiRoutes(process, parts, { bodies, checkOne, checkList }),
    usage: counted.charts,
    clock,
    log,
    metrics: metrics.http,
    metricsPage: metrics.page,
    broken: () => health.now(),
    bodies,
    settings: {
      publicUrl,
      isHostAllowed,
      trustedProxies,
      accessLogLinesPerSecond: 100,
      ...(compatHosts !== undefined && { compatHosts }),
      ...(metricsToken !== undefined && { metricsToken }),
    },
  });
  return { app, setUp: pagesDeps.setUp, health };
}

function checkOneOf({ config, clock }: Process, parts: ServiceParts): CheckOne {
  const { serving, checker, admission, publicUrl } = parts;
  const { tiers, metrics, trust } = serving;
  const cache = new KeptResults(config.cacheMb * 1_048_576 * ANSWERS_SHARE);
  watch(metrics.registry, ANSWER_CACHE, () => cache.reads());
  return createCheckOne({
    admission,
    check: checker.check,
    cache,
    clock,
    tiers,
    publicUrl,
    // Answers kept from before the resolver became suspect are not given any more.
    datasetsVersion: () => checker.datasets().version + (trust?.epoch ?? 0),
  });
}

function apiRoutes(
  process: Process,
  parts: ServiceParts,
  {
    bodies,
    checkOne,
    checkList,
  }: Pick<DashboardDeps, "bodies"> & {
    readonly checkOne: CheckOne;
    readonly checkList: BulkHandler;
  },
): readonly Route[] {
  const { base, serving, checker, admission, bulk, texts, gate } = parts;
  const { clock, log } = base;
  const { shares, backing } = serving;
  const unitsLeft = createUnitsLeft({ ...base, usage: backing.usage });
  const isOptimistic = process.config.compatOptimistic;
  return [
    viewRoute({ bulk: bulk.service, log, shares }),
    uploadRoute({ bulk: bulk.service, bodies, checkList, log, readLarge: texts.readFile }),
    explainRoute(createExplain({ ...checker, admission })),
    decideRoute(gate.decideOne, admission),
    feedbackRoute(gate.feedback),
    decisionsRoute(gate.decisionLog),
    auditRoute(new AuditLog(base.db), base.accounts),
    mailboxesRoute(createFindMailbox(gate.hash)),
    watchRoute(parts.watching.list, serving.tiers),
    ...compatRoutes({ checkOne, unitsLeft, admission, clock, isOptimistic }),
  ];
}

const dnsOf = ({ checker, serving, bulk }: ServiceParts) => [
  {
    clients: { single: checker.dns.stats(), learning: serving.dns.stats() },
    trust: serving.trust?.stats(),
  },
  bulk.thread?.figures()?.dns,
];

function watchHealth(process: Process, parts: ServiceParts): Health {
  const { serving, checker, bulk } = parts;
  const probes = {
    dnsAnswers: () => checker.dns.probe(),
    dnsFigures: () => dnsOf(parts),
    listThread: bulk.thread,
  };
  const health = openHealth(process, { ...serving, ...probes });
  watch(serving.metrics.registry, HEALTH, () => health.state());
  return health;
}

function watchParts(parts: ServiceParts): void {
  const { thread } = parts.bulk;
  const { registry } = parts.serving.metrics;
  watch(registry, DNS, () => dnsOf(parts));
  watch(registry, VERDICTS, () => ({
    single: parts.counted.verdicts.counts,
    bulk: thread?.figures()?.verdicts,
  }));
  if (thread === undefined) return;
  watch(registry, WORKER, () => thread.figures()?.worker);
}

function dashboardOf(
  process: Process,
  parts: ServiceParts,
  opened: { readonly health: Health } & Pick<DashboardDeps, "bodies" | "isHostAllowed">,
): DashboardDeps {
  const { health } = opened;
  const { serving, counted, bulk, webhooks, gate, publicUrl } = parts;
  const info = { publicUrl, version: programVersion() };
  const countSignIn = eventCounter(serving.metrics.registry, "signIns");
  return {
    ...openAccounts(process, { ...parts, info, countSignIn, health }),
    ...opened,
    requests: counted.charts,
    system: systemFacts(process, serving, {
      health,
      dns: () => dnsOf(parts),
      postponed: () => bulk.thread?.figures()?.worker.postponed,
    }),
    dnsTest: createDnsTest(process),
    accountLists: bulk.lists,
    webhooks,
    watch: parts.watching.list,
    gate,
    pages: builtPages(),
  };
}
