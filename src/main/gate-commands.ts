import type { Command } from "commander";
import { createHostCheck } from "../outbound/public-host.ts";
import { sqlDomainMails } from "../lists/domain-mail.ts";
import { sqlVerdictCounts } from "../lists/verdict-counts.ts";
import { sqlHooks } from "../gate/hooks-store.ts";
import { sqlOutcomes } from "../gate/outcomes-store.ts";
import { sqlPolicyStore } from "../gate/policy-store.ts";
import { createSecretBox } from "../base/secrets.ts";
import { decideCommand } from "../cli/commands/gate/decide.ts";
import { policyCommand } from "../cli/commands/gate/policy.ts";
import { hookCommand } from "../cli/commands/gate/hook.ts";
import { refuse, type Terminal } from "../cli/terminal.ts";
import { auditedPolicies, type Note } from "../gate/audited.ts";
import { createBackTestPolicy } from "../gate/back-test.ts";
import { createHookService, type SignedExample } from "../gate/hooks.ts";
import { createPolicyService } from "../gate/policies.ts";
import { openStoredLists } from "./feeds/lists.ts";
import { openCliValidator } from "./parts/cli-validator.ts";
import { type AccountStore, openAccountStore } from "./parts/backing/store.ts";
import { openDns } from "./parts/dns.ts";
import type { Process } from "./process/open-process.ts";
import { readInput, readText, systemUser } from "./process/terminal.ts";
import { publicUrlOf } from "./settings/links.ts";
import { openSecretKey } from "./settings/secret-key.ts";
import { readTiersFile } from "./settings/tiers-setting.ts";

/** Opens a process for one command. */
type Run = <T extends object>(
  open: (process: Process) => Promise<T>,
) => Promise<T & { readonly close: () => Promise<void> }>;

export interface GateCommandParts {
  readonly terminal: Terminal;
  readonly run: Run;
  /** Changes are written down as the operator's. */
  readonly noteFor: (process: Process, store: AccountStore) => Note;
}

/** The commands of the sign-up gate. */
export function gateCommands({ terminal, run, noteFor }: GateCommandParts): readonly Command[] {
  const openDecider = () => run((process) => openCliValidator(process, terminal.err));
  const decide = { terminal, readFile: readText, openDecider };
  return [
    decideCommand(decide),
    policyCommand({
      ...decide,
      openPolicies: () => run((process) => openPolicies(process, noteFor)),
      openBackTest: () => run(openBackTest),
    }),
    hookCommand({ terminal, openHooks: () => run(openHooks), readInput, send }),
  ];
}

async function openPolicies(process: Process, noteFor: GateCommandParts["noteFor"]) {
  const store = await openAccountStore(process);
  const { db } = store.sql;
  const policies = createPolicyService({
    store: sqlPolicyStore(db),
    outcomes: sqlOutcomes(db),
    tiers: readTiersFile(process.config.tiersFile),
    clock: process.clock,
    notices: store.notices,
  });
  return {
    account: (idOrEmail: string) => store.accounts.find(idOrEmail),
    policies: auditedPolicies(policies, noteFor(process, store)),
    author: systemUser(),
  };
}

async function openBackTest(process: Process) {
  const store = await openAccountStore(process);
  const { datasets } = await openStoredLists(process, store);
  const { db } = store.sql;
  return {
    backTestPolicy: createBackTestPolicy({
      counts: sqlVerdictCounts(db),
      mails: sqlDomainMails(db),
      datasets,
      implicitMx: process.config.implicitMx,
      clock: process.clock,
    }),
  };
}

async function openHooks(process: Process) {
  const store = await openAccountStore(process);
  const { clock, ids, config } = process;
  const dns = openDns(config, "interactive", process);
  process.closing.add(() => dns.close());
  return {
    account: (idOrEmail: string) => store.accounts.find(idOrEmail),
    hooks: createHookService({
      hooks: sqlHooks(store.sql.db),
      box: createSecretBox(await openSecretKey(config, store.sql)),
      ids,
      clock,
      publicUrl: () => publicUrlOf(config),
      checkHost: createHostCheck({ addresses: dns.everyAddress, clock }),
    }),
  };
}

/** To the public URL, as the identity system would. */
async function send({ url, headers, body }: SignedExample) {
  const signal = AbortSignal.timeout(10_000);
  const answer = await fetch(url, { method: "POST", headers, body, signal }).catch(() => {
    throw refuse(`${url} does not answer: start the service, or set GATEPOST_PUBLIC_URL`);
  });
  return { status: answer.status, body: await answer.text() };
}
