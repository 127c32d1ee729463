import { existsSync, readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AccountDirectory } from "../accounts/account-directory.ts";
import { Accounts } from "../accounts/accounts-store.ts";
import { createAccountService } from "../accounts/accounts.ts";
import type { Admission } from "../accounts/admission/admission.ts";
import type { QuotaCounter } from "../accounts/admission/quota-counter.ts";
import type { UsageLedger } from "../accounts/admission/usage.ts";
import { createUsageReader } from "../accounts/allowance.ts";
import { createAudit, AuditLog } from "../accounts/audit.ts";
import { Guesses } from "../accounts/guesses.ts";
import { createOwnAccount } from "../accounts/own-account.ts";
import { createResetLinks } from "../accounts/reset-links.ts";
import { argonPasswords, boundPasswords } from "../accounts/sign-in/passwords.ts";
import { createSetUp } from "../accounts/sign-in/set-up.ts";
import { createSignIn, type SignInOutcome } from "../accounts/sign-in/sign-in.ts";
import { createSignIns, endingSessions, SignIns } from "../accounts/sign-in/sign-ins.ts";
import { createSignUp } from "../accounts/sign-in/sign-up.ts";
import type { Ids } from "../base/ids.ts";
import { createSecretBox } from "../base/secrets.ts";
import { Jobs } from "../bulk/jobs.ts";
import { createAccountCheck } from "../check/account-check.ts";
import { createFrontPage } from "../check/front-page.ts";
import type { SingleCheck } from "../check/single-check.ts";
import { isoTime } from "../core/calendar.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { Trust } from "../dns/trust/trust.ts";
import type { SystemState } from "../http/account/shapes.ts";
import { type BuiltPages, type Manifest, MANIFEST_FILE } from "../http/account/dashboard-pages.ts";
import type { DashboardDeps } from "../http/account/dashboard.ts";
import type { HostCheck } from "../http/hosts.ts";
import type { TrustedProxies } from "../http/client-address.ts";
import { createReadiness, type Probe } from "../http/system/readiness.ts";
import { sqlVerdictCounts } from "../lists/verdict-counts.ts";
import { lastBackUp } from "../store/embedded/back-up.ts";
import { serverText } from "./checker.ts";
import type { Lists } from "./lists.ts";
import type { DnsFigures } from "./metrics.ts";
import type { Process } from "./process.ts";
import { programVersion } from "./program-files.ts";
import type { AccountStore, Backing } from "./store.ts";

/** What the routes take as it is. */
type PassedOn = Pick<
  DashboardDeps,
  | "requests"
  | "shares"
  | "system"
  | "dnsTest"
  | "hours"
  | "tiers"
  | "clock"
  | "log"
  | "rates"
  | "accountLists"
  | "webhooks"
> &
  Partial<Pick<DashboardDeps, "gate">>;

interface DashboardParts extends PassedOn {
  readonly store: AccountStore;
  readonly admission: Admission;
  readonly quotas: Pick<QuotaCounter, "take">;
  readonly usage: UsageLedger;
  readonly lists: Pick<Lists, "operator" | "refresh">;
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
  readonly ids: Ids;
  readonly settings: DashboardSettings;
  readonly countSignIn?: (outcome: SignInOutcome) => void;
  readonly secretKey: Uint8Array;
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

function builtPages(): { readonly pages?: BuiltPages } {
  const root = builtFolder("dashboard", "index.html");
  if (root === undefined) return {};
  const manifest = JSON.parse(readFileSync(join(root, MANIFEST_FILE), "utf8")) as Manifest; // the build's own
  return { pages: { root, manifest } };
}

/** Everything behind the dashboard, on the stores of the serving process. */
export function openDashboard(parts: DashboardParts): DashboardDeps {
  const { store, clock, ids, log, tiers, usage, admission, settings, rates, quotas } = parts;
  const { lists, shares, check, datasets, gate } = parts;
  const { signup, publicUrl, isHostAllowed, trustedProxies } = settings;
  const { db } = store.sql;
  const [stored, sessions, auditLog] = [new Accounts(db), new SignIns(db), new AuditLog(db)];
  const [directory, guesses] = [new AccountDirectory(db), new Guesses(db)];
  const passwords = boundPasswords(argonPasswords, shares.of("sign_ins"));
  const audit = createAudit({ log: auditLog, ids, clock });
  const logins = createSignIns({ sessions, accounts: stored, ids, clock });
  const { notices } = store;
  const plain = createAccountService({ accounts: stored, passwords, ids, clock, notices });
  const accounts = endingSessions(plain, sessions);
  const setUp = createSetUp({ accounts: plain, directory, logins, audit, ids, clock });
  const tried = { accounts: stored, passwords, rates, guesses, logins, audit };
  const counted = parts.countSignIn ?? (() => undefined);
  const signIn = createSignIn({ ...tried, ids, clock, log, counted });
  const box = createSecretBox(parts.secretKey);
  const isSetUpOpen = (): Promise<boolean> => setUp.isOpen();
  const { operator, refresh } = lists;
  return {
    logins,
    sessions,
    resetLinks: createResetLinks({ stored, accounts, box, audit, clock }),
    auditLog,
    audit,
    directory,
    signIn,
    admission,
    rates,
    tiers,
    clock,
    log,
    shares,
    info: settings,
    trustedProxies,
    isHostAllowed,
    accounts,
    keys: store.keys,
    credits: store.credits,
    switches: store.switches,
    signUp: createSignUp({ mode: signup, isSetUpOpen, accounts: plain, quotas, audit, clock }),
    own: createOwnAccount({ accounts: plain, directory, sessions, signIn, audit }),
    usage: createUsageReader({ usage, clock, tiers }),
    check: createAccountCheck({ admission, check, datasets, tiers, publicUrl }),
    setUp,
    frontPage: createFrontPage({ check, datasets, refresh, usage, clock }),
    verdicts: sqlVerdictCounts(db),
    operator,
    refresh,
    system: parts.system,
    dnsTest: parts.dnsTest,
    hours: parts.hours,
    requests: parts.requests,
    accountLists: parts.accountLists,
    webhooks: parts.webhooks,
    ...(gate !== undefined && { gate }),
    ...builtPages(),
  };
}

interface SystemParts {
  readonly backing: Backing;
  readonly probes: ReadonlyMap<string, Probe>;
  readonly trust: Trust | undefined;
  readonly dns: () => readonly (DnsFigures | undefined)[];
  /** Chunks put back because DNS said nothing; undefined before the bulk thread has started. */
  readonly postponed: () => number | undefined;
}

/** What the dashboard's system page shows. The process counts as started when this is called. */
export function systemFacts(
  { config, clock, ids }: Process,
  parts: SystemParts,
): () => Promise<SystemState> {
  const { backing, probes, trust } = parts;
  const failingNow = createReadiness(probes, clock);
  const started_at = isoTime(clock.nowMs());
  const dataDir = config.databaseUrl === undefined ? config.dataDir : undefined;
  const jobs = new Jobs({ db: backing.store.sql.db, charges: backing.charges, ids });
  return async () => {
    const failing = await failingNow();
    const isUp = !failing.includes("database");
    const queue = isUp ? await jobs.queueAhead(clock.nowMs()) : undefined;
    const { openEntries = [], entriesPerSecond } = queue ?? {};
    const warning = trust?.suspect === undefined ? undefined : trust.warning();
    return {
      version: programVersion(),
      node: process.version,
      started_at,
      warnings: warning === undefined ? [] : [warning],
      ...(dataDir !== undefined && { last_backup: lastBackUp(dataDir) ?? null }),
      probes: [...probes.keys()].map((name) => ({ name, ok: !failing.includes(name) })),
      disk: dataDir === undefined ? null : await diskOf(dataDir),
      queue: {
        lists: openEntries.length,
        waiting: openEntries.reduce((sum, open) => sum + open, 0),
      },
      facts: isUp ? factsOf(config.dnsServers, parts, entriesPerSecond) : [],
    };
  };
}

async function diskOf(dataDir: string): Promise<SystemState["disk"]> {
  const { bavail, blocks, bsize } = await statfs(dataDir);
  return { free: bavail * bsize, size: blocks * bsize };
}

function factsOf(
  servers: Process["config"]["dnsServers"],
  { backing, trust, dns, postponed }: SystemParts,
  perSecond: number | undefined,
): SystemState["facts"] {
  const speed = perSecond === undefined ? "not measured yet" : String(Math.round(perSecond));
  const putBack = postponed();
  const facts: [name: string, value: string][] = [
    ["Database", backing.engine],
    ["DNS servers", servers?.map(serverText).join(", ") ?? "the system's"],
  ];
  if (trust !== undefined) facts.push(["Answers not believed", String(trust.stats().withheld)]);
  facts.push(...dns().flatMap(clientFacts));
  if (putBack !== undefined) facts.push(["Chunks put back without DNS", String(putBack)]);
  facts.push(["Entries a second", speed]);
  return facts.map(([name, value]) => ({ name, value }));
}

const CLIENTS: Readonly<Record<string, string>> = {
  single: "DNS for single checks",
  learning: "DNS for learning",
  bulk: "DNS for lists",
  again: "DNS for lists, second pass",
};

const clientFacts = (thread: DnsFigures | undefined) =>
  Object.entries(thread?.clients ?? {}).map(([client, stats]): [name: string, value: string] => [
    CLIENTS[client] ?? client,
    `${String(stats.underWay)} of ${String(stats.window)} under way, ${String(stats.unsettled)} without an answer, ${String(stats.lateAnswers)} late so far`,
  ]);
