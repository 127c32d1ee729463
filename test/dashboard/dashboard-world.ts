import { createCheckOne } from "../../src/check/check-one.ts";
import { createSingleCheck, type SingleCheck } from "../../src/check/single-check.ts";
import { KeptResults } from "../../src/check/kept-answers.ts";
import { Accounts } from "../../src/accounts/accounts-store.ts";
import { Keys } from "../../src/accounts/key-store.ts";
import { SignInService, SignIns } from "../../src/accounts/sign-in/sign-ins.ts";
import type { UsageLedger } from "../../src/accounts/admission/usage.ts";
import { systemIds as ids } from "../../src/base/ids.ts";
import type { Datasets } from "../../src/core/evidence/datasets.ts";
import { bulkHandler } from "../../src/http/api/bulk.ts";
import { viewRoute } from "../../src/http/api/view.ts";
import { buildApp } from "../../src/http/app.ts";
import { BodyReader } from "../../src/http/body.ts";
import { DEFAULT_LIMITS, listen } from "../../src/http/server.ts";
import { dashboard as dashboardOf, type DashboardDeps } from "../../src/http/account/dashboard.ts";
import { createShares } from "../../src/base/shares.ts";
import { builtPages, openAccounts } from "../../src/main/dashboard.ts";
import type { AccountStore } from "../../src/main/store.ts";
import { openTestStore } from "../process/test-process.ts";
import type { PublicHostCheck } from "../../src/outbound/dial.ts";
import { createOctetBox } from "../../src/base/secrets.ts";
import { LISTS } from "../../src/bulk/lists/list-store.ts";
import { Jobs } from "../../src/bulk/jobs/jobs.ts";
import { ListReader } from "../../src/bulk/lists/list-reader.ts";
import { AccountLists } from "../../src/bulk/lists/lists.ts";
import type { TrustedProxies } from "../../src/http/client-address.ts";
import { type Admission, createAdmission } from "../../src/accounts/admission/admission.ts";
import { DEFAULT_TIERS } from "../../src/accounts/admission/tiers.ts";
import { UsageRecorder } from "../../src/accounts/admission/usage-recorder.ts";
import { type DashboardLists, rulesOf } from "./dashboard-lists.ts";
import { keptLog, type KeptLog } from "../process/kept-log.ts";
import type { BrokenPart } from "../../src/base/health.ts";
import type { BulkWorker } from "../../src/bulk/jobs/worker.ts";
import { bulkOn, coreCheck } from "../bulk/bulk-world.ts";
import { storesOn } from "../contracts/stores.ts";
import { literalDatasets, type LiteralKnowledge } from "../lists/literal-datasets.ts";
import type { Clock } from "../../src/base/clock.ts";
import { realClock } from "../time/real-clock.ts";
import type { recordingSender } from "../process/webhook-world.ts";
import { type Zone, zoneLookup } from "../dns/zone-lookup.ts";
import { WatchList } from "../../src/watch/watch-list.ts";
import { gateOf } from "./dashboard-gate.ts";
import { webhooksOf } from "./dashboard-webhooks.ts";
import { memoryRateCounter } from "../../src/accounts/admission/counters.ts";

export interface DashboardWorld {
  /** "http://127.0.0.1:1234", with the pages when they are built. */
  readonly url: string;
  readonly store: AccountStore;
  readonly log: KeptLog;
  readonly setUp: ReturnType<typeof openAccounts>["setUp"];
  readonly receiver: ReturnType<typeof recordingSender>;
  readonly usage: UsageLedger;
  readonly admission: Admission;
  /** The lists behind the admin's page; `refresh` answers from `sources`. */
  readonly lists: DashboardLists;
  /** Works off lists; it runs. */
  readonly worker: BulkWorker;
  /** What health says; DNS is down from the start. */
  readonly broken: BrokenPart[];
  /** Writes the waiting counts of the charts. */
  countRequests(): Promise<void>;
  /** Creates an account that may sign in with `PASSWORD`; returns its id. */
  addAccount(
    email: string,
    more?: { readonly isAdmin?: boolean; readonly tier?: "free" | "pro" },
  ): Promise<string>;
  /** "name=value" of a new session, past the limit of attempts. */
  cookieOf(accountId: string): Promise<string>;
  close(): Promise<void>;
}

export interface DashboardWorldOptions {
  readonly zone?: Zone;
  readonly known?: LiteralKnowledge;
  readonly signup?: "open" | "closed";
  readonly signInHeader?: string;
  readonly trustProxy?: TrustedProxies;
  readonly checkHost?: PublicHostCheck;
  /** Base of links if it differs from the server's address: "https://..." changes the cookie. */
  readonly publicUrl?: string;
  readonly clock?: Clock;
}

export const PASSWORD = "correct horse battery";

const checkByName: PublicHostCheck = (host) =>
  Promise.resolve(
    host.endsWith(".example") ? undefined : { ok: false, fault: "not_public", detail: "10.0.0.1" },
  );

/** The whole server with SQLite in memory and DNS from a literal, on a loopback port. */
export async function dashboardWorld(options: DashboardWorldOptions = {}): Promise<DashboardWorld> {
  const { clock = realClock } = options;
  const log = keptLog();
  const tiers = DEFAULT_TIERS;
  const store = await openTestStore(":memory:");
  const { db } = store.sql;
  const stores = storesOn(store.sql, { clock, log, ids });
  const { usage, counter: quotas, charges } = stores;
  const rates = memoryRateCounter();
  const { notices } = store;
  const admission = createAdmission({
    keys: new Keys(db),
    rates,
    quotas,
    charges,
    clock,
    tiers,
    notices,
  });
  const datasets = (): Datasets => known;
  const known = literalDatasets(options.known);
  const lookup = zoneLookup(options.zone ?? {});
  const check: SingleCheck = createSingleCheck({ lookup, datasets, clock, implicitMx: false });
  const publicUrl = (): string => options.publicUrl ?? "http://gatepost.example";
  const checkOne = createCheckOne({
    admission,
    check,
    clock,
    tiers,
    publicUrl,
    cache: new KeptResults(1_000_000),
    datasetsVersion: () => known.version,
  });
  const requests = new UsageRecorder({ usage, keys: new Keys(db), clock, log });
  const words = rulesOf(store);
  const { checkHost = checkByName } = options;
  const hooks = webhooksOf(store, checkHost, log);
  const shares = createShares();
  const bodies = new BodyReader({ shares, clock });
  const {
    bulk,
    worker,
    stop: stopAnnouncing,
  } = bulkOn(stores, {
    admission,
    tiers,
    check: coreCheck(datasets, lookup, clock),
    announcement: hooks.dispatcher.announcement,
  });
  const lists = new AccountLists({
    ...stores,
    db,
    bulk,
    shares,
    reader: new ListReader(),
    wake: () => undefined,
    box: createOctetBox(new Uint8Array(32), LISTS),
    lifeMs: 24 * 3_600_000,
  });
  const running = worker();
  running.start();
  const backing = { store, jobs: new Jobs({ db, charges, ids }), rates, quotas, usage };
  const secretKey = new Uint8Array(32);
  const broken: BrokenPart[] = [
    {
      part: "dns",
      says: "DNS server 192.0.2.53:53 does not answer.",
      toDo: "Start it.",
      sinceMs: clock.nowMs(),
      stops: true,
    },
  ];
  const health: DashboardDeps["health"] = {
    state: () => Promise.resolve({ parts: ["database", "dns"], broken }),
  };
  const parts = {
    serving: { backing, lists: words, shares, tiers, secretKey },
    admission,
    checker: { check, uncounted: check, datasets },
    info: { publicUrl, version: "0.0.0-test" },
    countSignIn: () => undefined,
    health,
  };
  const { signup, signInHeader, trustProxy } = options;
  const settings = { signup, signInHeader, trustProxy };
  const dashboard: DashboardDeps = {
    ...openAccounts({ clock, ids, log, config: settings }, parts),
    requests,
    bodies,
    isHostAllowed: () => true,
    dnsTest: () =>
      Promise.resolve({
        resolvers: [
          { server: "192.0.2.53", median_ms: 12, tcp: true, truthful: true, says: "" },
          {
            server: "192.0.2.54",
            median_ms: null,
            tcp: null,
            truthful: null,
            says: "DNS does not answer.",
          },
        ],
      }),
    health,
    system: () =>
      Promise.resolve({
        version: "0.0.0-test",
        node: process.version,
        started_at: "2026-11-20T12:00:00.000Z",
        disk: { free: 4e9, size: 1e10 },
        queue: { lists: 0, waiting: 0 },
        facts: [{ name: "Database", value: "PostgreSQL" }],
      }),
    accountLists: lists,
    gate: gateOf(store, { check, datasets, checkHost, publicUrl, log }),
    webhooks: hooks,
    watch: new WatchList({ db, datasets: parts.checker.datasets, clock, random: Math.random }),
    pages: builtPages(),
  };
  const app = buildApp({
    admission,
    checkOne,
    clock,
    log,
    usage: requests,
    bulk: bulkHandler(bulk, log),
    routes: [
      viewRoute({
        bulk: bulk,
        log,
        shares,
      }),
    ],
    pages: dashboardOf(dashboard),
    metrics: { observe: () => undefined, refused: () => undefined },
    metricsPage: { contentType: "text/plain", text: () => Promise.resolve("") },
    broken: () => Promise.resolve([]),
    bodies,
    settings: { publicUrl, trustedProxies: [], accessLogLinesPerSecond: 1 },
  });
  const terms = { limits: { ...DEFAULT_LIMITS, farewellMs: 0, stopTimeoutMs: 0 } };
  const { url, stop } = await listen(app, { host: "127.0.0.1", port: 0 }, terms);
  return {
    url,
    store,
    log,
    setUp: dashboard.setUp,
    usage,
    admission,
    receiver: hooks.receiver,
    lists: words,
    worker: running,
    broken,
    countRequests: () => requests.flush(),
    async addAccount(email, { isAdmin = false, tier = "free" } = {}) {
      const order = { email, tier, origin: "operator", isAdmin, password: PASSWORD } as const;
      const answer = await store.accounts.create(order);
      if (answer.kind !== "created") throw new Error(`no account: ${answer.kind}`);
      return answer.account.id;
    },
    async cookieOf(accountId) {
      const accounts = new Accounts(db);
      const logins = new SignInService({ sessions: new SignIns(db), accounts, ids, clock });
      const account = await accounts.find(accountId);
      if (account === undefined) throw new Error("no such account");
      const visitor = { clientAddress: "192.0.2.1", userAgent: "" };
      return `gatepost_session=${(await logins.start(account, visitor)).token}`;
    },
    async close() {
      await stop();
      await running.stop();
      await stopAnnouncing();
      await hooks.stop();
      await Promise.all([quotas.flush(), requests.flush()]);
      await store.close();
    },
  };
}
