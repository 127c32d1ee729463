import { memoryNotices } from "../../adapters/memory/notices.ts";
import { sqlCredits } from "../../adapters/sql/admission/credits.ts";
import type { SqlCharges } from "../../adapters/sql/admission/charges.ts";
import { sqlAccounts } from "../../adapters/sql/account/accounts.ts";
import { openEmbedded, type SqlDatabase } from "../../adapters/sql/engine/database.ts";
import { sqlKeys } from "../../adapters/sql/account/keys.ts";
import { sqlOwnSpellings } from "../../adapters/sql/evidence/own-spellings.ts";
import { engineName } from "../../adapters/sql/engine/sqlite.ts";
import { systemClock as clock } from "../../adapters/system/clock.ts";
import { systemIds as ids } from "../../adapters/system/ids.ts";
import { argonPasswords } from "../../adapters/system/passwords.ts";
import type { Keys } from "../../ports/admission/keys.ts";
import { type Notices, TOPICS } from "../../ports/process/notices.ts";
import type { QuotaCounter } from "../../ports/admission/quota-counter.ts";
import type { UsageLedger } from "../../ports/admission/usage.ts";
import { type AccountService, createAccountService } from "../../service/account/accounts.ts";
import { createCreditService, type CreditService } from "../../service/account/credits.ts";
import { createKeyService, type KeyService } from "../../service/account/keys.ts";
import {
  createSpellingSwitch,
  type SwitchSpellings,
} from "../../service/account/spelling-switch.ts";
import type { Config } from "../settings/config.ts";

/** What the commands and the server do with accounts; both may have the database open at once. */
export interface AccountStore {
  readonly sql: SqlDatabase;
  readonly accounts: AccountService;
  readonly keys: KeyService;
  readonly credits: CreditService;
  readonly switchSpellings: SwitchSpellings;
  /** What is changed by the services above is told here. */
  readonly notices: Notices;
  readonly close: () => Promise<void>;
}

/** What only a serving process does: count. */
export interface Ledgers {
  readonly keys: Keys;
  readonly usage: UsageLedger;
  readonly quotas: QuotaCounter;
  readonly charges: SqlCharges;
}

type StoreConfig = Pick<Config, "dataDir" | "databaseUrl">;

/** The database of the settings, brought to this program's schema. Throws a `DatabaseFault`. */
export async function openSql({ dataDir, databaseUrl }: StoreConfig): Promise<SqlDatabase> {
  if (databaseUrl === undefined) return openEmbedded(dataDir, clock.nowMs());
  const { openPostgres } = await import("../../adapters/sql/engine/postgres-database.ts");
  return openPostgres(databaseUrl, clock.nowMs());
}

/**
 * For a command: with REDIS_URL the servers and workers are told of changes when it is closed. Throws a `DatabaseFault`.
 */
export async function openAccountStore(
  config: StoreConfig & Partial<Pick<Config, "redisUrl">>,
): Promise<AccountStore> {
  const { redisUrl } = config;
  if (redisUrl === undefined) return accountStore(await openSql(config));
  const { redisTeller } = await import("../../adapters/redis/teller.ts");
  const teller = redisTeller(redisUrl, { clock, ids });
  const store = accountStore(await openSql(config));
  for (const topic of TOPICS) store.notices.hear(topic, () => teller.tell(topic));
  return {
    ...store,
    async close() {
      await Promise.all([teller.close(), store.close()]);
    },
  };
}

/** `notices` tells other parts, and other processes, of changes. */
export function accountStore(sql: SqlDatabase, notices: Notices = memoryNotices()): AccountStore {
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
    switchSpellings: createSpellingSwitch({
      accounts: sqlAccounts(db),
      spellings: sqlOwnSpellings(db),
      clock,
      notices,
    }),
    notices,
    close: () => sql.close(),
  };
}

/** "in /var/lib/gatepost (node:sqlite)" or "gatepost of db.example (PostgreSQL)"; never a password. */
export function databasePlace({ dataDir, databaseUrl }: StoreConfig): string {
  if (databaseUrl === undefined) return `in ${dataDir} (${engineName})`;
  const { pathname, host } = new URL(databaseUrl);
  return `${pathname.slice(1)} of ${host} (PostgreSQL)`;
}
