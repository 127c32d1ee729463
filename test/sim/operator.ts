import { Accounts } from "../../src/accounts/accounts-store.ts";
import { SignInService, SignIns } from "../../src/accounts/sign-in/sign-ins.ts";
import { openStoredLists } from "../../src/main/lists.ts";
import { openDns } from "../../src/main/checker.ts";
import { openWebhooks } from "../../src/main/webhooks.ts";
import type { Process } from "../../src/main/process.ts";
import { openAccountStore, openSecretKey } from "../../src/main/store.ts";
import { DEFAULT_TIERS } from "../../src/accounts/admission/tiers.ts";
import { PolicyService } from "../../src/gate/policies.ts";

/** What operators do at the command line, on the same stores; this process never dies. */
export async function openOperator(process: Process) {
  const store = await openAccountStore(process);
  const dns = openDns(process.config, "interactive", { machine: process.machine });
  const { setup } = openWebhooks(process, {
    sql: store.sql,
    secretKey: await openSecretKey(process.config, store.sql),
    addresses: dns.addresses,
  });
  const { operator } = await openStoredLists(process, store);
  const { clock, ids } = process;
  const { db } = store.sql;
  const policies = new PolicyService({
    db,
    tiers: DEFAULT_TIERS,
    clock,
    notices: store.notices,
  });
  const [sessions, accounts] = [new SignIns(db), new Accounts(db)];
  const signIns = new SignInService({ sessions, accounts, ids, clock });
  return { ...store, setup, rules: operator, policies, signIns };
}

export type Operator = Awaited<ReturnType<typeof openOperator>>;
