import { MemoryQuotaCounter } from "../adapters/memory/quota-counter.ts";
import { sqlAccounts } from "../adapters/sql/accounts.ts";
import { type SqlCharges, sqlCharges } from "../adapters/sql/charges.ts";
import { sqlCredits } from "../adapters/sql/credits.ts";
import { openEmbedded, type SqlDatabase } from "../adapters/sql/database.ts";
import { sqlKeys } from "../adapters/sql/keys.ts";
import { sqlUsageLedger } from "../adapters/sql/usage-ledger.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { systemIds as ids } from "../adapters/system/ids.ts";
import { argonPasswords } from "../adapters/system/passwords.ts";
import type { Keys } from "../ports/keys.ts";
import type { Log } from "../ports/log.ts";
import type { UsageLedger } from "../ports/usage.ts";
import { type AccountService, createAccountService } from "../service/accounts.ts";
import { createCreditService, type CreditService } from "../service/credits.ts";
import { createKeyService, type KeyService } from "../service/keys.ts";

/** What the commands and the server do with accounts; both may have the database open at once. */
export interface AccountStore {
  readonly sql: SqlDatabase;
  readonly accounts: AccountService;
  readonly keys: KeyService;
  readonly credits: CreditService;
  readonly close: () => Promise<void>;
}

export async function openAccountStore(dataDir: string): Promise<AccountStore> {
  const sql = await openEmbedded(dataDir, clock.nowMs());
  const { db } = sql;
  return {
    sql,
    accounts: createAccountService({
      accounts: sqlAccounts(db),
      passwords: argonPasswords,
      ids,
      clock,
    }),
    keys: createKeyService({ keys: sqlKeys(db), ids, clock }),
    credits: createCreditService({ credits: sqlCredits(db), clock }),
    close: () => sql.close(),
  };
}

/** What only the one serving process may do: count. */
export interface Ledgers {
  readonly keys: Keys;
  readonly usage: UsageLedger;
  readonly quotas: MemoryQuotaCounter;
  readonly charges: SqlCharges;
}

export function openLedgers({ sql: { db } }: AccountStore, log: Log): Ledgers {
  const usage = sqlUsageLedger(db);
  const quotas = new MemoryQuotaCounter({ ledger: usage, clock, log });
  const charges = sqlCharges({ db, counter: quotas, ids });
  return { keys: sqlKeys(db), usage, quotas, charges };
}
