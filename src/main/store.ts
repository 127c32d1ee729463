import { existsSync } from "node:fs";
import { join } from "node:path";
import { Accounts } from "../accounts/accounts-store.ts";
import { AccountService } from "../accounts/accounts.ts";
import { Charges } from "../accounts/admission/charges.ts";
import {
  MemoryQuotaCounter,
  type QuotaCounter,
  UnsavedUnits,
  memoryRateCounter,
  type RateCounter,
  type RequestCounter,
} from "../accounts/admission/counters.ts";
import { SharedCounters } from "../accounts/admission/shared-counters.ts";
import { UsageLedger } from "../accounts/admission/usage.ts";
import { Credits } from "../accounts/credits.ts";
import { Keys } from "../accounts/key-store.ts";
import { KeyService } from "../accounts/keys.ts";
import { SignIns } from "../accounts/sign-in/sign-ins.ts";
import { Jobs } from "../bulk/jobs/jobs.ts";
import { askedRarely } from "../base/health.ts";
import { createAddressHash, KEY_FILE, keyFingerprint, loadSecretKey } from "../base/secrets.ts";
import { AccountSwitches } from "../gate/account-switches.ts";
import { Hooks } from "../gate/hooks.ts";
import { createOutcomeReport, Outcomes } from "../gate/outcomes.ts";
import { DatabaseFault } from "../store/database-fault.ts";
import type { SqlDatabase } from "../store/database.ts";
import { alone, type Elections } from "../store/elections.ts";
import { type Ailment, engineName } from "../store/embedded/sqlite.ts";
import { agreeFact, readFact, replaceFact } from "../store/installation.ts";
import type { SchemaUse } from "../store/upgrade.ts";
import { memoryNotices, type Notices, TOPICS } from "../store/notices.ts";
import { flushLast, type Machine, type Process } from "./process.ts";
import type { Config } from "./settings/config.ts";
import { inTime } from "../base/clock.ts";

/** The database of the settings. Throws a `DatabaseFault`, and with another secret key than its "known" one before it migrates. */
export async function openSql(
  process: Process,
  schema: SchemaUse,
  key: "known" | "any" = "known",
): Promise<SqlDatabase> {
  const { config, machine, clock, closing } = process;
  const { dataDir, databaseUrl } = config;
  const { before, ...upgrading } = upgradingOf(process);
  const options = { schema, upgrading: key === "any" ? upgrading : { ...upgrading, before } };
  const sql =
    databaseUrl === undefined
      ? await machine.openSqlite(dataDir, clock.nowMs(), options)
      : await machine.openPostgres(databaseUrl, clock.nowMs(), options);
  closing.add(() => sql.close());
  return sql;
}

const upgradingOf = ({ config, log, clock }: Process) => ({
  told: { log, clock },
  before: (db: SqlDatabase["db"]) => requireSecretKey(config, { db }),
  secretKey: (db: SqlDatabase["db"]) => openSecretKey(config, { db }),
});

/** For a command, which migrates nothing: on PostgreSQL it tells the servers and workers of changes. Throws a `DatabaseFault`. */
export async function openAccountStore(process: Process): Promise<AccountStore> {
  const sql = await openSql(process, "create");
  const store = accountStore(sql, process.machine);
  if (process.config.databaseUrl === undefined) return store;
  const { postgresTeller } = await import("../store/postgres-database.ts");
  const teller = postgresTeller(sql.db);
  process.closing.add(() => teller.sent());
  for (const topic of TOPICS) store.notices.hear(topic, () => teller.tell(topic));
  return store;
}

export function accountStore(
  sql: SqlDatabase,
  { clock, ids, passwords }: Pick<Machine, "clock" | "ids" | "passwords">,
  notices: Notices = memoryNotices(),
) {
  const { db } = sql;
  const [accounts, keys, hooks] = [new Accounts(db), new Keys(db), new Hooks(db)];
  const [outcomes, sessions] = [new Outcomes(db), new SignIns(db)];
  return {
    sql,
    accounts: new AccountService({ accounts, passwords, sessions, ids, clock, notices }),
    keys: new KeyService({ keys, ids, clock, notices }),
    credits: new Credits(db, { clock, notices }),
    switches: new AccountSwitches({ accounts, db, clock, notices }),
    reportOutcomes: createOutcomeReport({ outcomes, keys, hooks, clock }),
    passwords,
    notices,
  };
}

export type AccountStore = ReturnType<typeof accountStore>;

/** "in /var/lib/gatepost (node:sqlite)" or "gatepost of db.example (PostgreSQL)"; never a password. */
export function databasePlace({ dataDir, databaseUrl }: Config): string {
  if (databaseUrl === undefined) return `in ${dataDir} (${engineName})`;
  const { pathname, host, searchParams } = new URL(databaseUrl);
  return `${pathname.slice(1)} of ${host || (searchParams.get("host") ?? "")} (PostgreSQL)`;
}

export interface Backing {
  readonly where: "alone" | "among_others";
  readonly engine: string;
  readonly store: AccountStore;
  readonly usage: UsageLedger;
  readonly quotas: Pick<QuotaCounter, "take" | "giveBack">;
  readonly charges: Charges;
  readonly jobs: Jobs;
  readonly rates: RateCounter;
  /** Rate, day and month of a check in one step; undefined where they are steps in this process anyway. */
  readonly requests: RequestCounter | undefined;
  readonly elections: Elections;
  /** Why the store does not serve; undefined while it does. Never rejects. */
  readonly ails: () => Promise<Ailment | undefined>;
}

/** The probe of the database writes, so it is asked no more often. */
const DATABASE_PROBE_MS = 1_000;

const ailmentOf = async ({ ails, answers }: SqlDatabase): Promise<Ailment | undefined> =>
  ails === undefined ? ((await answers()) ? undefined : "silent") : await ails();

export const openBacking = (process: Process): Promise<Backing> =>
  process.config.databaseUrl === undefined
    ? openEmbeddedBacking(process)
    : openScaledBacking(process.config.databaseUrl, process);

async function openEmbeddedBacking(process: Process): Promise<Backing> {
  const { machine, clock, ids, log, closing } = process;
  closing.add(machine.lockForServing(process.config.dataDir)); // before a start that is refused could migrate
  const sql = await openSql(process, "migrate");
  const { db } = sql;
  const usage = new UsageLedger(db);
  const quotas = new MemoryQuotaCounter({ ledger: usage, clock, log });
  flushLast(process, "quota.flush_failed", quotas);
  const charges = new Charges({ db, counter: quotas, ids });
  return {
    where: "alone",
    engine: `embedded, by ${engineName}`,
    store: accountStore(sql, process.machine),
    usage,
    quotas,
    charges,
    jobs: new Jobs({ db, charges, ids }),
    rates: memoryRateCounter(),
    requests: undefined,
    elections: alone,
    ails: askedRarely(() => ailmentOf(sql), DATABASE_PROBE_MS, clock),
  };
}

/** After a crash of PostgreSQL others wait until this server has written what it granted. */
const WRITE_RETRY_MS = 500;

/** Many processes: PostgreSQL holds everything and tells them of changes. */
async function openScaledBacking(databaseUrl: string, process: Process): Promise<Backing> {
  const { config, machine, clock, ids, log, closing } = process;
  const upgrading = upgradingOf(process);
  const sql = await machine.openPostgres(databaseUrl, clock.nowMs(), { upgrading });
  closing.add(() => sql.close());
  await sql.requireOwnSessions();
  const { db, counting, general } = sql;
  const session = sql.openSession({ clock, log });
  closing.add(() => session.close());
  const { notices, elections, listens } = session;
  const usage = new UsageLedger(db);
  const retryAfterMs = WRITE_RETRY_MS;
  const journal = new UnsavedUnits({ ledger: usage, clock, log, retryAfterMs });
  flushLast(process, "quota.flush_failed", journal);
  const hash = createAddressHash(await openSecretKey(config, sql));
  const shared = new SharedCounters({ counting, general, ledger: usage, journal, hash, clock });
  const charges = new Charges({ db, shared, ids });
  await inTime(listens, { timeoutMs: 1_000, late: undefined, clock });
  return {
    where: "among_others",
    engine: "PostgreSQL",
    store: accountStore(sql, process.machine, notices),
    usage,
    quotas: shared.quotas,
    charges,
    jobs: new Jobs({ db, charges, ids }),
    rates: shared.rates,
    requests: shared.requests,
    elections,
    ails: askedRarely(() => ailmentOf(sql), DATABASE_PROBE_MS, clock),
  };
}

type KeyConfig = Pick<Config, "secretKey" | "dataDir">;

/** Throws when the database was used with another key. A new one is made for a database alone that was used with none. */
export async function openSecretKey(
  config: KeyConfig,
  { db }: Pick<SqlDatabase, "db">,
): Promise<Uint8Array> {
  const known = await requireSecretKey(config, { db });
  if (known !== undefined) return known;
  const key = loadSecretKey(config.secretKey, config.dataDir);
  const fingerprint = keyFingerprint(key);
  if ((await agreeFact(db, "secret_key", fingerprint)) === fingerprint) return key;
  throw otherKey(config);
}

/** The key that the database is used with, if any. Throws as `openSecretKey` does, and writes nothing. */
export async function requireSecretKey(
  config: KeyConfig,
  { db }: Pick<SqlDatabase, "db">,
): Promise<Uint8Array | undefined> {
  const known = await readFact(db, "secret_key");
  if (known === undefined) return undefined;
  if (config.secretKey === undefined && !existsSync(join(config.dataDir, KEY_FILE))) {
    throw new DatabaseFault(
      "other_key",
      `${KEY_FILE} is missing in ${config.dataDir}, and the database there is used with it; nothing was written. ` +
        "Put back the copy that you keep apart from the copies of the database (docs/operations/back-up.md). " +
        "If it is lost, run `gatepost migrate --new-secret-key` (docs/operations/secrets.md)",
    );
  }
  const key = loadSecretKey(config.secretKey, config.dataDir);
  if (keyFingerprint(key) === known) return key;
  throw otherKey(config);
}

function otherKey({ secretKey, dataDir }: KeyConfig): DatabaseFault {
  const which = secretKey === undefined ? `${KEY_FILE} in ${dataDir}` : "GATEPOST_SECRET_KEY";
  return new DatabaseFault(
    "other_key",
    `${which} is not the key that this database is used with. Every process needs that one; ` +
      "if it is lost, run `gatepost migrate --new-secret-key` to use this one (docs/operations/secrets.md)",
  );
}

/** From now on the database is used with the key of the settings; what the old one sealed stays sealed. */
export async function adoptSecretKey(
  config: KeyConfig,
  { db }: Pick<SqlDatabase, "db">,
): Promise<void> {
  const key = loadSecretKey(config.secretKey, config.dataDir);
  await replaceFact(db, "secret_key", keyFingerprint(key));
}
