import { sqlAccounts } from "../../src/adapters/sql/account/accounts.ts";
import { sqlSignIns } from "../../src/adapters/sql/account/sign-ins.ts";
import { sqlOutcomes } from "../../src/adapters/sql/policy/outcomes.ts";
import { sqlPolicyStore } from "../../src/adapters/sql/policy/policy-store.ts";
import { openStoredLists } from "../../src/main/feeds/lists.ts";
import { openDns } from "../../src/main/parts/dns.ts";
import { openAccountStore } from "../../src/main/parts/backing/store.ts";
import { openWebhooks } from "../../src/main/parts/webhooks.ts";
import type { Process } from "../../src/main/process/open-process.ts";
import { openSecretKey } from "../../src/main/settings/secret-key.ts";
import { createSignIns } from "../../src/service/account/sign-in/sign-ins.ts";
import { DEFAULT_TIERS } from "../../src/service/admission/tiers.ts";
import { createPolicyService } from "../../src/service/policy/policies.ts";

/** What operators do at the command line, on the same stores; this process never dies. */
export async function openOperator(process: Process) {
  const store = await openAccountStore(process);
  const dns = openDns(process.config, "interactive", { machine: process.machine });
  const { setup } = openWebhooks(process, {
    sql: store.sql,
    secretKey: await openSecretKey(process.config, store.sql),
    addresses: dns.addresses,
    sent: "elsewhere",
  });
  const { operator } = await openStoredLists(process, store);
  const { clock, ids } = process;
  const { db } = store.sql;
  const policies = createPolicyService({
    store: sqlPolicyStore(db),
    outcomes: sqlOutcomes(db),
    tiers: DEFAULT_TIERS,
    clock,
    notices: store.notices,
  });
  const [sessions, accounts] = [sqlSignIns(db), sqlAccounts(db)];
  const signIns = createSignIns({ sessions, accounts, ids, clock });
  return { ...store, setup, rules: operator, policies, signIns };
}

export type Operator = Awaited<ReturnType<typeof openOperator>>;
