import { memoryNotices, type Notices, TOPICS } from "../../../store/notices.ts";
import { createCreditService, type CreditService, sqlCredits } from "../../../accounts/credits.ts";
import type { SqlCharges } from "../../../accounts/admission/charges.ts";
import { sqlAccounts } from "../../../accounts/accounts-store.ts";
import type { SqlDatabase } from "../../../store/database.ts";
import { createKeyService, type Keys, type KeyService, sqlKeys } from "../../../accounts/keys.ts";
import { sqlTraffic } from "../../../gate/traffic-store.ts";
import { sqlHooks } from "../../../gate/hooks-store.ts";
import { sqlOutcomes } from "../../../gate/outcomes-store.ts";
import { engineName } from "../../../store/embedded/sqlite.ts";
import { argonPasswords } from "../../../accounts/sign-in/passwords.ts";
import type { QuotaCounter } from "../../../accounts/admission/quota-counter.ts";
import type { UsageLedger } from "../../../accounts/admission/usage.ts";
import { type AccountService, createAccountService } from "../../../accounts/accounts.ts";
import { type AccountSwitches, createAccountSwitches } from "../../../gate/account-switches.ts";
import { createOutcomeReport, type ReportOutcomes } from "../../../gate/outcome-report.ts";
import type { Process } from "../../process/open-process.ts";
import type { Config } from "../../settings/config.ts";

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
export interface Ledgers {
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
  const { postgresTeller } = await import("../../../store/postgres-database.ts");
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
