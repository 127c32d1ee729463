import { sqlAccounts } from "../accounts/accounts-store.ts";
import { type AccountService, createAccountService } from "../accounts/accounts.ts";
import { type SqlCharges, sqlCharges } from "../accounts/admission/charges.ts";
import { MemoryQuotaCounter } from "../accounts/admission/memory-quota-counter.ts";
import type { QuotaCounter } from "../accounts/admission/quota-counter.ts";
import {
  memoryRateCounter,
  type RateCounter,
  type RequestCounter,
} from "../accounts/admission/rate-counter.ts";
import { sharedCounters } from "../accounts/admission/shared-counters.ts";
import { UnsavedUnits } from "../accounts/admission/unsaved-units.ts";
import { sqlUsageLedger, type UsageLedger } from "../accounts/admission/usage.ts";
import { createCreditService, type CreditService, sqlCredits } from "../accounts/credits.ts";
import { createKeyService, type Keys, type KeyService, sqlKeys } from "../accounts/keys.ts";
import { argonPasswords } from "../accounts/sign-in/passwords.ts";
import { inTime } from "../base/in-time.ts";
import type { Log } from "../base/log.ts";
import { type AccountSwitches, createAccountSwitches } from "../gate/account-switches.ts";
import { sqlHooks } from "../gate/hooks-store.ts";
import { createOutcomeReport, type ReportOutcomes } from "../gate/outcome-report.ts";
import { sqlOutcomes } from "../gate/outcomes-store.ts";
import { sqlTraffic } from "../gate/traffic-store.ts";
import { askedRarely, type Probe } from "../http/system/readiness.ts";
import type { SharedDatasets } from "../lists/shared-datasets.ts";
import { DatabaseFault } from "../store/database-fault.ts";
import type { SqlDatabase } from "../store/database.ts";
import { alone, type Elections } from "../store/elections.ts";
import { engineName } from "../store/embedded/sqlite.ts";
import { memoryNotices, type Notices, TOPICS } from "../store/notices.ts";
import type { PostgresDatabase } from "../store/postgres-database.ts";
import { dnsCap } from "./checker.ts";
import type { Machine, Process } from "./process.ts";
import type { Config } from "./settings/config.ts";
import type { BulkFigures } from "./threads/bulk-thread.ts";

export interface BulkRunnerParts {
  /** The evidence on names that checks need. */
  readonly datasets: SharedDatasets;
  /** Keys the hashes of addresses on the operator's lists. */
  readonly secretKey: Uint8Array;
  readonly log: Log;
  /** A job that ran here completed. */
  readonly completed: () => void;
}

/** Where queued jobs go. */
export interface BulkRunner {
  /** A job was queued. */
  wake(): void;
  /** Jobs or sessions are stored: wakes their worker. */
  rouse(): void;
  /** The lists were refreshed. */
  use(datasets: SharedDatasets): void;
  /** Of its own worker; absent where workers are elsewhere, undefined before it reports. */
  readonly figures?: () => BulkFigures | undefined;
  /** Hands jobs back; to be called before the database is closed. */
  stop(): Promise<void>;
}

/** What the commands and the server do with accounts; both may have the database open at once. */
export interface AccountStore {
  readonly sql: SqlDatabase;
  readonly accounts: AccountService;
  readonly keys: KeyService;
  readonly credits: CreditService;
  readonly switches: AccountSwitches;
  readonly reportOutcomes: ReportOutcomes;
  /** Called after a change by the services above. */
  readonly notices: Notices;
}

/** What only a serving process does: count. */
interface Ledgers {
  readonly keys: Keys;
  readonly usage: UsageLedger;
  readonly quotas: Pick<QuotaCounter, "take" | "giveBack">;
  readonly charges: SqlCharges;
}

type StoreConfig = Pick<Config, "dataDir" | "databaseUrl">;

/** The database of the settings, brought to this program's schema. Throws a `DatabaseFault`. */
export async function openSql({ config, machine, clock, closing }: Process): Promise<SqlDatabase> {
  const { dataDir, databaseUrl } = config;
  const sql =
    databaseUrl === undefined
      ? await machine.openSqlite(dataDir, clock.nowMs())
      : await machine.openPostgres(databaseUrl, clock.nowMs());
  closing.add(() => sql.close());
  return sql;
}

/**
 * For a command: on PostgreSQL it tells the servers and workers of changes. Throws a `DatabaseFault`.
 */
export async function openAccountStore(process: Process): Promise<AccountStore> {
  const sql = await openSql(process);
  const store = accountStore(sql, process);
  if (process.config.databaseUrl === undefined) return store;
  const { postgresTeller } = await import("../store/postgres-database.ts");
  const teller = postgresTeller(sql.db);
  process.closing.add(() => teller.sent());
  for (const topic of TOPICS) store.notices.hear(topic, () => teller.tell(topic));
  return store;
}

/** `notices` tells other parts, and other processes, of changes. */
export function accountStore(
  sql: SqlDatabase,
  { clock, ids }: Pick<Process, "clock" | "ids">,
  notices: Notices = memoryNotices(),
): AccountStore {
  const { db } = sql;
  return {
    sql,
    accounts: createAccountService({
      accounts: sqlAccounts(db),
      passwords: argonPasswords,
      ids,
      clock,
      notices,
    }),
    keys: createKeyService({ keys: sqlKeys(db), ids, clock, notices }),
    credits: createCreditService({ credits: sqlCredits(db), clock, notices }),
    switches: createAccountSwitches({
      accounts: sqlAccounts(db),
      traffic: sqlTraffic(db, clock),
      db,
      clock,
      notices,
    }),
    reportOutcomes: createOutcomeReport({
      outcomes: sqlOutcomes(db),
      keys: sqlKeys(db),
      hooks: sqlHooks(db),
      clock,
    }),
    notices,
  };
}

/** "in /var/lib/gatepost (node:sqlite)" or "gatepost of db.example (PostgreSQL)"; never a password. */
export function databasePlace({ dataDir, databaseUrl }: StoreConfig): string {
  if (databaseUrl === undefined) return `in ${dataDir} (${engineName})`;
  const { pathname, host } = new URL(databaseUrl);
  return `${pathname.slice(1)} of ${host} (PostgreSQL)`;
}

/** The probe of the database writes, so it is asked no more often. */
const DATABASE_PROBE_MS = 1_000;

/** What differs between one process on SQLite and many on PostgreSQL. */
export interface Backing {
  /** Whether other processes may serve, check and send beside this one. */
  readonly where: "alone" | "among_others";
  /** For the dashboard's system page: "embedded, by node:sqlite". */
  readonly engine: string;
  readonly store: AccountStore;
  readonly ledgers: Ledgers;
  readonly rates: RateCounter;
  /** Rate, day and month of a check in one step; undefined where they are steps in this process anyway. */
  readonly requests: RequestCounter | undefined;
  /** Decides which process does what only one may do. */
  readonly elections: Elections;
  /** Do the stores answer? By name, as `/readyz` shows them. */
  readonly probes: ReadonlyMap<string, Probe>;
  /** Starts what runs bulk jobs here, or what tells the processes that run them elsewhere. */
  readonly startBulkRunner: (parts: BulkRunnerParts) => BulkRunner;
}

/** One process: SQLite in the data directory, counters in memory, bulk jobs in a thread. */
export async function openEmbeddedBacking(process: Process): Promise<Backing> {
  const { config, machine, clock, ids, log, closing } = process;
  const { dataDir } = config;
  const sql = await machine.openSqlite(dataDir, clock.nowMs());
  closing.add(() => sql.close());
  closing.add(machine.lockForServing(dataDir));
  const { db } = sql;
  const usage = sqlUsageLedger(db);
  const quotas = new MemoryQuotaCounter({ ledger: usage, clock, log });
  closing.add(() =>
    quotas.flush().catch((fault: unknown) => log.error("quota.flush_failed", fault)),
  );
  const charges = sqlCharges({ db, counter: quotas, ids });
  return {
    where: "alone",
    engine: `embedded, by ${engineName}`,
    store: accountStore(sql, process),
    ledgers: { keys: sqlKeys(db), usage, quotas, charges },
    rates: memoryRateCounter(),
    requests: undefined,
    elections: alone,
    probes: new Map([["database", askedRarely(() => sql.answers(), DATABASE_PROBE_MS, clock)]]),
    startBulkRunner: (parts) => threadRunner(config, parts, machine),
  };
}

type RunnerConfig = Pick<Config, "dataDir" | "dnsServers" | "dnsCanaries" | "implicitMx"> &
  Partial<Pick<Config, "cacheMb">>;

/** Bulk jobs in a thread of this process. */
export function threadRunner(
  config: RunnerConfig,
  parts: BulkRunnerParts,
  machine: Machine,
): BulkRunner {
  const { dataDir, dnsServers, dnsCanaries, implicitMx, cacheMb } = config;
  const { datasets, secretKey, log, completed } = parts;
  const cap = dnsCap(config, machine);
  const caches = cacheMb === undefined ? {} : { cacheMb };
  const dns = { dnsServers, dnsCanaries, dnsCap: cap.memory, ...caches };
  const settings = { dataDir, ...dns, implicitMx, datasets, secretKey };
  const ended = (): void => cap.clearOther();
  let latest: BulkFigures | undefined;
  const figures = (fresh: BulkFigures): void => void (latest = fresh);
  const thread = machine.startBulkThread(settings, { log, completed, ended, figures });
  return {
    wake: () => thread.wake(),
    rouse: () => thread.rouse(),
    use: (fresh) => thread.use(fresh),
    figures: () => latest,
    stop: () => thread.stop(),
  };
}

/** How long a start waits for the session that hears notices. */
const LISTENS_WITHIN_MS = 1_000;

/** Many processes: PostgreSQL holds everything and tells them of changes. */
export async function openScaledBacking(databaseUrl: string, process: Process): Promise<Backing> {
  const { clock, ids, log, closing } = process;
  const sql = await openWhenThere(databaseUrl, process);
  closing.add(() => sql.close());
  const { db, counting, patient } = sql;
  const session = sql.openSession({ clock, log });
  closing.add(() => session.close());
  const { notices, elections, listens } = session;
  const usage = sqlUsageLedger(db);
  const journal = new UnsavedUnits({ ledger: usage, clock, log });
  // A database that is away takes with it what it did not take; the rest is closed all the same.
  closing.add(() =>
    journal.flush().catch((fault: unknown) => log.error("quota.flush_failed", fault)),
  );
  const shared = sharedCounters({ counting, patient, ledger: usage, journal, clock });
  const { rates, quotas, requests } = shared;
  const charges = sqlCharges({ db, shared, ids });
  await inTime(listens, { timeoutMs: LISTENS_WITHIN_MS, late: undefined, clock });
  return {
    where: "among_others",
    engine: "PostgreSQL",
    store: accountStore(sql, process, notices),
    ledgers: { keys: sqlKeys(db), usage, quotas, charges },
    rates,
    requests,
    elections,
    probes: new Map([["database", askedRarely(() => sql.answers(), DATABASE_PROBE_MS, clock)]]),
    startBulkRunner: () => WORKERS,
  };
}

/** Bulk jobs in worker processes, which are told of a job in its transaction and look after their own lists. */
const WORKERS: BulkRunner = {
  wake: () => undefined,
  rouse: () => undefined,
  use: () => undefined,
  stop: () => Promise.resolve(),
};

const DATABASE_WAIT_MS = 60_000;
const DATABASE_PAUSE_MS = 1_000;

/** PostgreSQL may be starting beside this process: it is waited for up to 60 s, with one line in the log. */
async function openWhenThere(
  url: string,
  { machine, clock, log }: Pick<Process, "machine" | "clock" | "log">,
): Promise<PostgresDatabase> {
  const untilMs = clock.monotonicMs() + DATABASE_WAIT_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      return await machine.openPostgres(url, clock.nowMs());
    } catch (fault) {
      const isAway = fault instanceof DatabaseFault && fault.code === "unreachable";
      if (!isAway || clock.monotonicMs() >= untilMs) throw fault;
      if (tries === 1) log.warn("start.waiting_for_database", { why: fault.message });
    }
    await new Promise<void>((resolve) => void clock.after(DATABASE_PAUSE_MS, resolve));
  }
}
