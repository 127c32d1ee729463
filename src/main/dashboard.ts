import { existsSync, readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sqlAccountDirectory } from "../accounts/account-directory.ts";
import { sqlAccounts } from "../accounts/accounts-store.ts";
import { createAccountService } from "../accounts/accounts.ts";
import type { Admission } from "../accounts/admission/admission.ts";
import type { SqlCharges } from "../accounts/admission/charges.ts";
import type { QuotaCounter } from "../accounts/admission/quota-counter.ts";
import type { RateCounter } from "../accounts/admission/rate-counter.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import type { UsageLedger } from "../accounts/admission/usage.ts";
import { createUsageReader } from "../accounts/allowance.ts";
import { createAudit, sqlAuditLog } from "../accounts/audit.ts";
import { sqlGuesses } from "../accounts/guesses.ts";
import { createOwnAccount } from "../accounts/own-account.ts";
import { argonPasswords, boundPasswords } from "../accounts/sign-in/passwords.ts";
import { createResetLinks } from "../accounts/reset-links.ts";
import { createSecretBox } from "../base/secrets.ts";
import { createSetUp } from "../accounts/sign-in/set-up.ts";
import { createSignIn, type SignInOutcome } from "../accounts/sign-in/sign-in.ts";
import { createSignIns, endingSessions, sqlSignIns } from "../accounts/sign-in/sign-ins.ts";
import { createSignUp } from "../accounts/sign-in/sign-up.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Shares } from "../base/shares.ts";
import { sqlJobs } from "../bulk/jobs.ts";
import { createAccountCheck } from "../check/account-check.ts";
import { createFrontPage } from "../check/front-page.ts";
import type { SingleCheck } from "../check/single-check.ts";
import { isoTime } from "../core/calendar.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { ServerAddress } from "../dns/transport/system-resolvers.ts";
import type { Trust } from "../dns/trust/trust.ts";
import type { DnsTest, SystemState } from "../http/account/admin-shapes.ts";
import { type BuiltPages, type Manifest, MANIFEST_FILE } from "../http/account/dashboard-pages.ts";
import type { DashboardDeps } from "../http/account/dashboard.ts";
import type { HostCheck } from "../http/request/allowed-hosts.ts";
import type { TrustedProxies } from "../http/request/client-address.ts";
import { createReadiness, type Probe } from "../http/system/readiness.ts";
import { sqlVerdictCounts } from "../lists/verdict-counts.ts";
import { lastBackUp } from "../store/embedded/back-up.ts";
import type { Lists } from "./lists.ts";
import type { DnsFigures } from "./metrics.ts";
import { programVersion } from "./program-files.ts";
import type { AccountStore } from "./store.ts";

/** What the serving process has made already. */
interface DashboardParts {
  readonly store: AccountStore;
  readonly admission: Admission;
  readonly rates: RateCounter;
  readonly quotas: Pick<QuotaCounter, "take">;
  readonly usage: UsageLedger;
  readonly requests: DashboardDeps["requests"];
  readonly lists: Pick<Lists, "operator" | "refresh">;
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly settings: DashboardSettings;
  readonly shares: Shares;
  readonly countSignIn?: (outcome: SignInOutcome) => void;
  readonly system: () => Promise<SystemState>;
  readonly dnsTest: () => Promise<DnsTest>;
  readonly hours: DashboardDeps["hours"];
  /** 32 bytes, kept outside the database. */
  readonly secretKey: Uint8Array;
  readonly accountLists: DashboardDeps["accountLists"];
  readonly webhooks: DashboardDeps["webhooks"];
  readonly gate?: DashboardDeps["gate"];
}

interface DashboardSettings {
  readonly signup: "open" | "closed";
  readonly publicUrl: () => string;
  readonly isHostAllowed: HostCheck;
  readonly version: string;
  readonly trustedProxies: TrustedProxies;
}

/** A folder beside this file's own build; undefined where only the server was compiled. */
export function builtFolder(name: "dashboard" | "docs", file: string): string | undefined {
  const root = fileURLToPath(new URL(`../../${name}/`, import.meta.url));
  return existsSync(join(root, file)) ? root : undefined;
}

/** With what the build says of its chunks. */
function readPages(root: string): BuiltPages {
  const manifest = JSON.parse(readFileSync(join(root, MANIFEST_FILE), "utf8")) as Manifest; // the build's own
  return { root, manifest };
}

const pagesOf = (root: string | undefined): { readonly pages?: BuiltPages } =>
  root === undefined ? {} : { pages: readPages(root) };

/** Everything behind the dashboard, on the stores of the serving process. */
export function openDashboard(parts: DashboardParts): DashboardDeps {
  const { store, clock, ids, tiers, usage, admission, settings, rates, quotas } = parts;
  const { db } = store.sql;
  const accounts = sqlAccounts(db);
  const own = { accounts, ids, clock };
  const sessions = sqlSignIns(db);
  const auditLog = sqlAuditLog(db);
  const directory = sqlAccountDirectory(db);
  const passwords = boundPasswords(argonPasswords, parts.shares.of("sign_ins"));
  const audit = createAudit({ log: auditLog, ids, clock });
  const logins = createSignIns({ sessions, accounts, ids, clock });
  const accountService = createAccountService({ ...own, passwords, notices: store.notices });
  const setUp = createSetUp({ accounts: accountService, directory, logins, audit, ids, clock });
  const signIn = createSignIn({
    ...own,
    passwords,
    rates,
    logins,
    audit,
    guesses: sqlGuesses(db),
    log: parts.log,
    counted: parts.countSignIn ?? (() => undefined),
  });
  const box = createSecretBox(parts.secretKey);
  const endingAccounts = endingSessions(accountService, sessions);
  return {
    logins,
    sessions,
    resetLinks: createResetLinks({ stored: accounts, accounts: endingAccounts, box, audit, clock }),
    auditLog,
    audit,
    directory,
    signIn,
    admission,
    rates,
    tiers,
    clock,
    info: settings,
    trustedProxies: settings.trustedProxies,
    isHostAllowed: settings.isHostAllowed,
    accounts: endingAccounts,
    keys: store.keys,
    signUp: createSignUp({
      mode: settings.signup,
      isSetUpOpen: () => setUp.isOpen(),
      accounts: accountService,
      quotas,
      audit,
      clock,
    }),
    own: createOwnAccount({ accounts: accountService, directory, sessions, signIn, audit }),
    usage: createUsageReader({ usage, clock, tiers }),
    check: createAccountCheck({ ...parts, publicUrl: settings.publicUrl }),
    setUp,
    frontPage: createFrontPage({ ...parts, refresh: parts.lists.refresh }),
    ...passedOn(parts),
    ...listsOf(parts),
    ...pagesOf(builtFolder("dashboard", "index.html")),
  };
}

/** What the routes take as it is. */
const passedOn = ({
  store,
  log,
  shares,
  system,
  dnsTest,
  hours,
  requests,
  accountLists,
  webhooks,
  gate,
}: DashboardParts) => ({
  verdicts: sqlVerdictCounts(store.sql.db),
  credits: store.credits,
  switches: store.switches,
  log,
  shares,
  system,
  dnsTest,
  hours,
  requests,
  accountLists,
  webhooks,
  ...(gate !== undefined && { gate }),
});

/** Not the rest of what the lists can do. */
function listsOf({ lists: { operator, refresh } }: DashboardParts) {
  return { operator, refresh };
}

interface SystemParts {
  readonly probes: ReadonlyMap<string, Probe>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: AccountStore;
  readonly charges: SqlCharges;
  /** "embedded, by node:sqlite" */
  readonly engine: string;
  /** Undefined: the system's resolvers. */
  readonly dnsServers: readonly ServerAddress[] | undefined;
  readonly trust: Trust | undefined;
  /** Of each thread's DNS clients. */
  readonly dns: () => readonly (DnsFigures | undefined)[];
  /** Chunks put back because DNS said nothing; undefined before the bulk thread has started. */
  readonly postponed: () => number | undefined;
  /** Of the embedded database alone. */
  readonly dataDir?: string;
}

/** What the dashboard's system page shows. The process counts as started when this is called. */
export function systemFacts(parts: SystemParts): () => Promise<SystemState> {
  const { probes, clock } = parts;
  const readiness = createReadiness(probes, clock);
  const startedAt = isoTime(clock.nowMs());
  return async () => {
    const failing = await readiness.failing();
    const queue = failing.includes("database") ? EMPTY : await queueOf(parts);
    return {
      version: programVersion(),
      node: process.version,
      started_at: startedAt,
      warnings: warningsOf(parts),
      ...(parts.dataDir !== undefined && { last_backup: lastBackUp(parts.dataDir) ?? null }),
      probes: [...probes.keys()].map((name) => ({ name, ok: !failing.includes(name) })),
      disk: await diskOf(parts.dataDir),
      queue: { lists: queue.openEntries.length, waiting: waitingIn(queue) },
      facts: failing.includes("database") ? [] : factsOf(parts, queue),
    };
  };
}

function warningsOf({ trust }: SystemParts): readonly string[] {
  const warning = trust?.suspect === undefined ? undefined : trust.warning();
  return warning === undefined ? [] : [warning];
}

type Queue = Awaited<ReturnType<ReturnType<typeof sqlJobs>["queueAhead"]>>;

const EMPTY: Queue = { openEntries: [], entriesPerSecond: undefined };

const queueOf = ({ clock, ids, store, charges }: SystemParts): Promise<Queue> =>
  sqlJobs({ db: store.sql.db, charges, ids }).queueAhead(clock.nowMs());

const waitingIn = ({ openEntries }: Queue): number =>
  openEntries.reduce((sum, open) => sum + open, 0);

/** Of the file system that holds the embedded database. */
async function diskOf(dataDir: string | undefined): Promise<SystemState["disk"]> {
  if (dataDir === undefined) return null;
  const { bavail, blocks, bsize } = await statfs(dataDir);
  return { free: bavail * bsize, size: blocks * bsize };
}

function factsOf(parts: SystemParts, { entriesPerSecond }: Queue): SystemState["facts"] {
  const { dnsServers, engine, trust } = parts;
  const postponed = parts.postponed();
  const speed =
    entriesPerSecond === undefined ? "not measured yet" : String(Math.round(entriesPerSecond));
  return [
    { name: "Database", value: engine },
    { name: "DNS servers", value: dnsServers?.map(textOf).join(", ") ?? "the system's" },
    ...(trust === undefined
      ? []
      : [{ name: "Answers not believed", value: String(trust.stats().withheld) }]),
    ...parts.dns().flatMap(clientFacts),
    ...(postponed === undefined
      ? []
      : [{ name: "Chunks put back without DNS", value: String(postponed) }]),
    { name: "Entries a second", value: speed },
  ];
}

const CLIENTS: Readonly<Record<string, string>> = {
  single: "DNS for single checks",
  learning: "DNS for learning",
  bulk: "DNS for lists",
  again: "DNS for lists, second pass",
};

/** What each DNS client of a thread is doing, and how often an answer came after its time. */
function clientFacts(thread: DnsFigures | undefined): SystemState["facts"] {
  return Object.entries(thread?.clients ?? {}).map(([client, stats]) => ({
    name: CLIENTS[client] ?? client,
    value: `${String(stats.underWay)} of ${String(stats.window)} under way, ${String(stats.unsettled)} without an answer, ${String(stats.lateAnswers)} late so far`,
  }));
}

const textOf = ({ host, port }: ServerAddress): string =>
  host.includes(":") ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;
