import type { TestContext } from "node:test";
import { MemoryQuotaCounter } from "../../src/adapters/memory/quota-counter.ts";
import { memoryRateCounter } from "../../src/adapters/memory/rate-counter.ts";
import { sqlAccounts } from "../../src/adapters/sql/accounts.ts";
import { sqlKeys } from "../../src/adapters/sql/keys.ts";
import { manualClock } from "../manual-clock.ts";
import { accountsContract } from "./accounts.ts";
import { chargesContract } from "./charges.ts";
import { quotaCounterContract } from "./quota-counter.ts";
import { rateCounterContract } from "./rate-counter.ts";
import { addAccount, openStores } from "./stores.ts";
import { usageLedgerContract } from "./usage.ts";
import { sqlRegistrationCache } from "../../src/adapters/sql/registration-cache.ts";
import { sqlDeliveries } from "../../src/adapters/sql/webhook-deliveries.ts";
import { sqlWebhookEndpoints } from "../../src/adapters/sql/webhooks.ts";
import { registrationCacheContract } from "./registration-cache.ts";
import { webhookStoreContract } from "./webhook-store.ts";
import { sqlAccountDirectory } from "../../src/adapters/sql/account-directory.ts";
import { sqlAuditLog } from "../../src/adapters/sql/audit-log.ts";
import { sqlLoginSessions } from "../../src/adapters/sql/login-sessions.ts";
import { accountDirectoryContract } from "./account-directory.ts";
import { auditLogContract } from "./audit-log.ts";
import { loginSessionsContract } from "./login-sessions.ts";

quotaCounterContract("memory over SQLite", async (t: TestContext) => {
  const { counter, usage, clock, log } = await openStores(t);
  return {
    counter,
    ledger: usage,
    clock,
    restart: () => new MemoryQuotaCounter({ ledger: usage, clock, log }),
    flushed: () => counter.flush(),
  };
});

chargesContract("SQLite", async (t: TestContext) => {
  const stores = await openStores(t);
  return {
    ...stores,
    account: (balance) => addAccount(stores, balance),
    nowMs: stores.clock.nowMs(),
  };
});

rateCounterContract("memory", () =>
  Promise.resolve({ counter: memoryRateCounter(), clock: manualClock() }),
);

usageLedgerContract("SQLite", async (t) => (await openStores(t)).usage);

accountsContract("SQLite", async (t) => {
  const { sql, credits } = await openStores(t);
  return { accounts: sqlAccounts(sql.db), keys: sqlKeys(sql.db), credits };
});

registrationCacheContract("SQLite", async (t) =>
  sqlRegistrationCache((await openStores(t)).sql.db),
);

webhookStoreContract("SQLite", async (t: TestContext) => {
  const stores = await openStores(t);
  return {
    endpoints: sqlWebhookEndpoints(stores.sql.db),
    deliveries: sqlDeliveries(stores.sql.db),
    account: (id) => addAccount(stores, 0, id),
  };
});

loginSessionsContract("SQLite", async (t) => {
  const stores = await openStores(t);
  const account = (id: string) => addAccount(stores, 0, id);
  return { sessions: sqlLoginSessions(stores.sql.db), account };
});

auditLogContract("SQLite", async (t) => {
  const stores = await openStores(t);
  return { log: sqlAuditLog(stores.sql.db), account: (id) => addAccount(stores, 0, id) };
});

accountDirectoryContract("SQLite", async (t) => {
  const stores = await openStores(t);
  const account = (id: string) => addAccount(stores, 10, id);
  return { directory: sqlAccountDirectory(stores.sql.db), account };
});
