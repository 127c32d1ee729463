import { existsSync, readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAccountHash, mailboxKey } from "../gate/traffic-marks.ts";
import { Accounts } from "../accounts/accounts-store.ts";
import { AccountService } from "../accounts/accounts.ts";
import type { Admission } from "../accounts/admission/admission.ts";
import { UsageReader } from "../accounts/allowance.ts";
import { createAudit, AuditLog } from "../accounts/audit.ts";
import { Guesses } from "../accounts/guesses.ts";
import { ResetLinks } from "../accounts/reset-links.ts";
import { boundPasswords } from "../accounts/sign-in/passwords.ts";
import { SetUp } from "../accounts/sign-in/set-up.ts";
import { SecondFactors } from "../accounts/sign-in/second-factor.ts";
import { createSignIn, type SignInOutcome } from "../accounts/sign-in/sign-in.ts";
import { SignInService, SignIns } from "../accounts/sign-in/sign-ins.ts";
import { createSignUp, SignUpSwitch } from "../accounts/sign-in/sign-up.ts";
import type { Health } from "../base/health.ts";
import { createOctetBox, createSecretBox } from "../base/secrets.ts";
import { LISTS } from "../bulk/lists/list-store.ts";
import { createAccountCheck } from "../check/explain.ts";
import { listsWith } from "../lists/published-list.ts";
import { createFrontPage } from "../check/front-page.ts";
import { isoTime } from "../core/calendar.ts";
import type { SystemState } from "../http/account/route.ts";
import { ProxySignIn } from "../http/account/proxy-sign-in.ts";
import {
  type BuiltPages,
  type DashboardDeps,
  type Manifest,
  MANIFEST_FILE,
} from "../http/account/dashboard.ts";
import { lastBackUp } from "../store/embedded/back-up.ts";
import { type Checker, isDnsOff, serverText } from "./checker.ts";
import type { ServedLists } from "./lists.ts";
import { type DnsFigures, filteredToday } from "./metrics.ts";
import type { Process } from "./process.ts";
import { programVersion } from "./program-files.ts";
import type { Serving } from "./serving.ts";
import type { Backing } from "./store.ts";

interface AccountParts {
  readonly serving: Pick<Serving, "tiers" | "shares" | "secretKey"> & {
    readonly backing: Pick<Backing, "jobs" | "store" | "rates" | "quotas" | "usage">;
    readonly lists: Pick<ServedLists, "operator" | "refresh">;
  };
  readonly admission: Admission;
  readonly checker: Pick<Checker, "check" | "uncounted" | "datasets">;
  readonly info: DashboardDeps["info"];
  readonly countSignIn: (outcome: SignInOutcome) => void;
  readonly health: DashboardDeps["health"];
}

/** A folder beside this file's own build; undefined where only the server was compiled. */
export function builtFolder(name: "dashboard" | "docs", file: string): string | undefined {
  const root = fileURLToPath(new URL(`../../${name}/`, import.meta.url));
  return existsSync(join(root, file)) ? root : undefined;
}

export function builtPages(): BuiltPages | undefined {
  const root = builtFolder("dashboard", "index.html");
  if (root === undefined) return undefined;
  const manifest = JSON.parse(readFileSync(join(root, MANIFEST_FILE), "utf8")) as Manifest; // the build's own
  return { root, manifest };
}

const openedBy = (secretKey: Uint8Array) => ({
  box: createOctetBox(secretKey, LISTS),
  hash: createAccountHash(mailboxKey(secretKey)),
});

interface AccountProcess extends Pick<Process, "clock" | "ids" | "log"> {
  readonly config: Pick<Process["config"], "signup" | "signInHeader" | "trustProxy">;
}

const dnsSilence = async (health: AccountParts["health"]): Promise<string | undefined> =>
  (await health.state()).broken.find(({ part, stops }) => part === "dns" && stops)?.says;

export function openAccounts(
  { clock, ids, log, config }: AccountProcess,
  { serving, admission, checker, info, countSignIn, health }: AccountParts,
) {
  const { backing, lists, shares, tiers, secretKey } = serving;
  const { store, usage, rates, quotas, jobs } = backing;
  const [{ check, uncounted, datasets }, { operator, refresh }] = [checker, lists];
  const { notices, keys, credits, switches } = store;
  const { db } = store.sql;
  const [stored, sessions, auditLog] = [new Accounts(db), new SignIns(db), new AuditLog(db)];
  const guesses = new Guesses(db);
  const { signup: fixed, signInHeader: header, trustProxy: trustedProxies = [] } = config;
  const signUps = new SignUpSwitch({ db, fixed, clock });
  const passwords = boundPasswords(store.passwords, shares.of("sign_ins"));
  const audit = createAudit(db, ids, clock, log);
  const logins = new SignInService({ sessions, accounts: stored, ids, clock });
  const base = { accounts: stored, sessions, passwords, ids, clock, log, notices };
  const accounts = new AccountService(base);
  const setUp = new SetUp({ db, secretKey, accounts, logins, audit, ids, clock });
  const box = createSecretBox(secretKey);
  const factors = new SecondFactors({ accounts: stored, box, audit, clock });
  const tried = { ...base, rates, guesses, factors, logins, audit };
  const signIn = createSignIn({ ...tried, counted: countSignIn });
  const told = { publicUrl: info.publicUrl, dnsSilence: () => dnsSilence(health) };
  return {
    logins,
    sessions,
    resetLinks: new ResetLinks({ stored, accounts, box, audit, clock }),
    auditLog,
    audit,
    factors,
    forgetting: { ...openedBy(secretKey), db, clock, log, accounts, operator, jobs },
    signIn,
    admission,
    rates,
    tiers,
    clock,
    log,
    shares,
    info,
    accounts,
    keys,
    credits,
    switches,
    proxySignIn: new ProxySignIn({ ...base, accounts, header, trustedProxies, logins, audit }),
    trustedProxies,
    signUps,
    signUp: createSignUp({ signUps, setUp, accounts, quotas, audit, clock }),
    usage: new UsageReader({ usage, clock, tiers }),
    check: createAccountCheck({ ...told, admission, check, datasets, tiers }),
    setUp,
    listsWith: (entry: string) => listsWith(entry, datasets()),
    frontPage: createFrontPage({ check: uncounted, datasets, refresh, clock }),
    operator,
    refresh,
  };
}

/** `postponed`: chunks put back because DNS said nothing; undefined before the bulk thread has started. */
interface SystemReads {
  readonly health: Pick<Health, "now">;
  readonly dns: () => readonly (DnsFigures | undefined)[];
  readonly postponed: () => number | undefined;
}

type Fact = SystemState["facts"][number];

export function systemFacts(
  { config, clock }: Process,
  { backing, trust }: Serving,
  { health, dns, postponed }: SystemReads,
): () => Promise<SystemState> {
  const started_at = isoTime(clock.nowMs());
  const dataDir = config.databaseUrl === undefined ? config.dataDir : undefined;
  const facts = (entriesPerSecond?: number): readonly Fact[] => {
    const all: readonly Fact[] = [
      { name: "Database", value: backing.engine },
      {
        name: "DNS servers",
        value: isDnsOff(config)
          ? "off"
          : (config.dnsServers?.map(serverText).join(", ") ?? "the system's"),
      },
      { name: "Answers not believed", value: shown(trust?.stats().replacedByUnknown) },
      { name: "Names that the resolver withheld today", value: shown(filteredToday(dns())) },
      ...dns().flatMap(clientFacts),
      { name: "Chunks put back without DNS", value: shown(postponed()) },
      { name: "Entries a second", value: shown(entriesPerSecond) || "not measured yet" },
    ];
    return all.filter(({ value }) => value !== "");
  };
  return async () => {
    const isUp = !(await health.now()).some(({ part }) => part === "database");
    const queue = isUp ? await backing.jobs.queueAhead(clock.nowMs()) : undefined;
    const { openEntries = [], entriesPerSecond } = queue ?? {};
    return {
      version: programVersion(),
      node: process.version,
      started_at,
      ...(dataDir !== undefined && { last_backup: lastBackUp(dataDir) ?? null }),
      disk: dataDir === undefined ? null : await diskOf(dataDir),
      queue:
        queue === undefined
          ? null
          : {
              lists: openEntries.length,
              waiting: openEntries.reduce((sum, open) => sum + open, 0),
            },
      facts: isUp ? facts(entriesPerSecond) : [],
    };
  };
}

async function diskOf(dataDir: string): Promise<SystemState["disk"]> {
  const { bavail, blocks, bsize } = await statfs(dataDir);
  return { free: bavail * bsize, size: blocks * bsize };
}

const shown = (count: number | undefined): string =>
  count === undefined ? "" : String(Math.round(count));

const CLIENTS: Readonly<Record<string, string>> = {
  single: "DNS for single checks",
  learning: "DNS for learning",
  bulk: "DNS for lists",
  again: "DNS for lists, second pass",
};

const clientFacts = (thread: DnsFigures | undefined) =>
  Object.entries(thread?.clients ?? {}).map(([client, stats]): Fact => ({
    name: CLIENTS[client] ?? client,
    value: `${String(stats.underWay)} of ${String(stats.window)} under way, ${String(stats.unsettled)} without an answer, ${String(stats.lateAnswers)} late so far`,
  }));
