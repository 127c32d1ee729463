import { type Account, Accounts } from "../../src/accounts/accounts-store.ts";
import { MemoryQuotaCounter } from "../../src/accounts/admission/counters.ts";
import { AuditLog } from "../../src/accounts/audit.ts";
import { DomainMails } from "../../src/lists/domain-mails.ts";
import { Keys } from "../../src/accounts/key-store.ts";
import { FeedFiles } from "../../src/lists/feed-files.ts";
import { insertRow } from "../../src/store/rows.ts";
import { Guesses } from "../../src/accounts/guesses.ts";
import { SignIns } from "../../src/accounts/sign-in/sign-ins.ts";
import { RuleStore } from "../../src/lists/rules/rule.ts";
import { sqlRegistrationCache } from "../../src/check/registration-store.ts";
import { Deliveries, WebhookEndpoints } from "../../src/webhooks/webhooks-store.ts";
import { webhookStoreContract } from "./webhooks/webhook-store.ts";
import { Hooks } from "../../src/gate/hooks.ts";
import { Outcomes } from "../../src/gate/outcomes.ts";
import { PolicyStore } from "../../src/gate/policy-store.ts";
import { accountDirectoryContract } from "./account/account-directory.ts";
import { accountsContract } from "./account/accounts.ts";
import { auditLogContract } from "./account/audit-log.ts";
import { backlogContract } from "./bulk/backlog.ts";
import { openBulkStores } from "./bulk/bulk-stores.ts";
import { chargesContract } from "./admission/charges.ts";
import { clocksApartContract } from "./bulk/clocks-apart.ts";
import type { Make } from "./contract.ts";
import { domainMailContract } from "./evidence/domain-mail.ts";
import { hooksContract } from "./policy/hooks.ts";
import { installationContract } from "./process/installation.ts";
import { forgetContract } from "./bulk/forget.ts";
import { watchContract } from "./watch/watch.ts";
import { jobsContract } from "./bulk/jobs.ts";
import { listsContract } from "./bulk/lists.ts";
import { feedFilesContract } from "./evidence/feed-files.ts";
import { guessesContract } from "./account/guesses.ts";
import { loginSessionsContract } from "./account/sign-ins.ts";
import { operatorEntriesContract } from "./evidence/rules.ts";
import { outcomesContract } from "./policy/outcomes.ts";
import { policyStoreContract } from "./policy/policy-store.ts";
import { feedbackContract } from "./policy/feedback.ts";
import { trafficContract } from "./policy/traffic.ts";
import {
  heldUnitsContract,
  type HeldUnitsFixture,
  quotaCounterContract,
} from "./admission/quota-counter.ts";
import {
  registrationCacheContract,
  registrationPruneContract,
} from "./evidence/registration-cache.ts";
import { restoredContract } from "./bulk/restored.ts";
import { retryKeysContract, sessionStoreContract } from "./bulk/session-store.ts";
import { addAccount, type OpenSql, openStores, type Stores } from "./stores.ts";
import { usageLedgerContract } from "./admission/usage.ts";

/** Every contract of the stores, on one kind of database. */
export function sqlContracts(name: string, place: string | OpenSql): void {
  const stores: Make<Stores> = (t) => openStores(t, place);
  usageContracts(name, stores);
  accountContracts(name, stores);
  listContracts(name, stores);
  guessesContract(name, async (t) => new Guesses((await stores(t)).sql.db));
  installationContract(name, async (t) => (await stores(t)).sql.db);
  feedFilesContract(name, async (t) => new FeedFiles((await stores(t)).sql.db));
  registrationCacheContract(name, async (t) => sqlRegistrationCache((await stores(t)).sql.db));
  registrationPruneContract(name, async (t) => (await stores(t)).sql.db);
  gateContracts(name, stores);
  webhookStoreContract(name, async (t) => {
    const opened = await stores(t);
    return {
      endpoints: new WebhookEndpoints(opened.sql.db),
      deliveries: new Deliveries(opened.sql.db),
      account: (id) => addAccount(opened, 0, id),
    };
  });
  jobsContract(name, (t) => openBulkStores(t, { place }));
  forgetContract(name, (t) => openBulkStores(t, { place }));
  watchContract(name, stores);
  listsContract(name, (t) => openBulkStores(t, { place }));
  backlogContract(name, (t) => openBulkStores(t, { place }));
  clocksApartContract(name, (t) => openBulkStores(t, { place }));
  restoredContract(name, (t) => openBulkStores(t, { place }));
  sessionStoreContract(name, (t) => openBulkStores(t, { place }));
  retryKeysContract(name, (t) => openBulkStores(t, { place }));
}

function usageContracts(name: string, stores: Make<Stores>): void {
  usageLedgerContract(name, async (t) => (await stores(t)).usage);
  const inMemory: Make<HeldUnitsFixture> = async (t) => {
    const { counter, usage, clock, log } = await stores(t);
    return {
      counter,
      ledger: usage,
      clock,
      restart: () => new MemoryQuotaCounter({ ledger: usage, clock, log }),
      flushed: () => counter.flush(),
    };
  };
  quotaCounterContract(`memory over ${name}`, inMemory);
  heldUnitsContract(`memory over ${name}`, inMemory);
  chargesContract(name, async (t) => {
    const opened = await stores(t);
    const account = (balance: number): Promise<string> => addAccount(opened, balance);
    return { ...opened, account, nowMs: opened.clock.nowMs() };
  });
}

function accountContracts(name: string, stores: Make<Stores>): void {
  accountsContract(name, async (t) => {
    const { sql, credits } = await stores(t);
    const { db } = sql;
    return { db, accounts: new Accounts(db), keys: new Keys(db), credits };
  });
  loginSessionsContract(name, async (t) => {
    const opened = await stores(t);
    const account = (id: string): Promise<string> => addAccount(opened, 0, id);
    return { sessions: new SignIns(opened.sql.db), account };
  });
  auditLogContract(name, async (t) => {
    const opened = await stores(t);
    const { db } = opened.sql;
    return {
      log: new AuditLog(db),
      append: (entry) => insertRow(db, "audit_entries", entry),
      account: (id) => addAccount(opened, 0, id),
    };
  });
  accountDirectoryContract(name, async (t) => {
    const opened = await stores(t);
    const account = (id: string, more: Partial<Account> = {}): Promise<string> =>
      addAccount(opened, 10, id, more);
    return { directory: new Accounts(opened.sql.db), account };
  });
}

function listContracts(name: string, stores: Make<Stores>): void {
  operatorEntriesContract(name, async (t) => new RuleStore((await stores(t)).sql.db));
  domainMailContract(name, async (t) => new DomainMails((await stores(t)).sql.db));
}

function gateContracts(name: string, stores: Make<Stores>): void {
  trafficContract(name, stores);
  feedbackContract(name, stores);
  policyStoreContract(name, async (t) => new PolicyStore((await stores(t)).sql.db));
  outcomesContract(name, async (t) => new Outcomes((await stores(t)).sql.db));
  hooksContract(name, async (t) => {
    const opened = await stores(t);
    for (const id of ["a1", "a2"]) await addAccount(opened, 0, id);
    const { db } = opened.sql;
    return { hooks: new Hooks(db), policies: new PolicyStore(db), keys: new Keys(db) };
  });
}
