import { setTimeout as pause } from "node:timers/promises";
import { Guesses } from "../accounts/guesses.ts";
import { attachDatasets, noRules } from "../lists/shared-datasets.ts";
import { createTestPolicy } from "../gate/rulings.ts";
import type { Trust } from "../dns/trust/trust.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { memoryRegistrationCache } from "../check/rdap/registration.ts";
import { present } from "../check/kept-answers.ts";
import { readFeatures, sortFeatures } from "../check/features.ts";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { Accounts } from "../accounts/accounts-store.ts";
import { readTiersFile } from "../accounts/admission/tiers.ts";
import { Charges } from "../accounts/admission/charges.ts";
import { Jobs } from "../bulk/jobs/jobs.ts";
import { endLists, LISTS } from "../bulk/lists/list-store.ts";
import { type CliForget, forgetCommand } from "../cli/commands/forget.ts";
import { createFindMailbox } from "../gate/mailbox-ids.ts";
import { createAccountHash, mailboxKey } from "../gate/traffic-marks.ts";
import { COMMAND_LINE, createAudit, type Note, noteBy, operatorId } from "../accounts/audit.ts";
import { systemClock as clock } from "../base/clock.ts";
import { systemFiles as files } from "../base/files.ts";
import type { Log } from "../base/log.ts";
import { createOctetBox, createSecretBox } from "../base/secrets.ts";
import { type EndedByRestore, endRestored } from "../bulk/jobs/housekeeping.ts";
import type { CommandBulkChecker } from "../cli/bulk/check-pages.ts";
import { type Open, opening } from "../cli/command.ts";
import { accountCommand, type CliAccounts } from "../cli/commands/account.ts";
import { keyCommand } from "../cli/commands/key.ts";
import { bulkCommand } from "../cli/commands/bulk.ts";
import { checkCommand, type CliValidator } from "../cli/commands/check.ts";
import { doctorCommand } from "../cli/commands/doctor.ts";
import { type CliDecider, decideCommand } from "../cli/commands/decide.ts";
import { type CliHooks, hookCommand } from "../cli/commands/hook.ts";
import { type CliMailboxes, mailboxCommand } from "../cli/commands/mailbox.ts";
import { type CliWatch, watchCommand } from "../cli/commands/watch.ts";
import { WatchList } from "../watch/watch-list.ts";
import { type CliPolicies, policyCommand } from "../cli/commands/policy.ts";
import { type CliLists, listsCommand } from "../cli/commands/lists.ts";
import type { AskServer } from "../../packages/mcp/src/serve-tools.ts";
import { mcpCommand } from "../cli/commands/mcp.ts";
import { backupCommand, migrateCommand, type MigrateOptions } from "../cli/commands/service.ts";
import { type CliWebhooks, webhookCommand } from "../cli/commands/webhook.ts";
import { refuse, type Terminal } from "../cli/terminal.ts";
import { findPerson, forgetPerson, UNDER_WAY_MS } from "../gate/forget-person.ts";
import { Hooks, HookService, type SignedExample } from "../gate/hooks.ts";
import { PolicyService } from "../gate/policies.ts";
import { createTokens } from "../gate/tokens.ts";
import { refreshBy } from "../lists/feed-refresher.ts";
import { createPublicHostCheck } from "../outbound/dial.ts";
import { backUpEmbedded } from "../store/embedded/back-up.ts";
import { lockForServing } from "../store/embedded/serving-lock.ts";
import { openBulkChecker } from "./bulk.ts";
import { openChecker, openDns, openTrust } from "./checker.ts";
import { diagnose } from "./doctor/diagnose.ts";
import { openStoredLists } from "./lists.ts";
import { openWebhooks } from "./webhooks.ts";
import { openProcess, type Process } from "./process.ts";
import { programVersion } from "./program-files.ts";
import { type Config, publicUrlOf, readConfig } from "./settings/config.ts";
import {
  type AccountStore,
  adoptSecretKey,
  databasePlace,
  openAccountStore,
  openSecretKey,
  openSql,
} from "./store.ts";
import { threadPages } from "./threads/reading-thread.ts";
import { hasDatabase, leaveWhenAsked, missingWords, openStored, systemUser } from "./terminal.ts";

/** The lists of the database, or where there is none those that came with the program. Makes no database. */
async function openKnownLists(process: Process): Promise<() => Datasets> {
  if (!hasDatabase(process.config)) {
    const bundled = attachDatasets(process.machine.loadLists().shared, noRules);
    return () => bundled;
  }
  const { datasets } = await openStoredLists(process, await openAccountStore(process));
  return datasets;
}

const EVERYTHING = { premium: true };

async function openValidator(
  process: Process,
  { err }: Terminal,
): Promise<CliValidator & CliDecider> {
  const datasets = await openKnownLists(process);
  const trust = openTrust(process);
  const registrations = memoryRegistrationCache();
  const checker = openChecker(process, { registrations, datasets, trust });
  process.closing.add(() => warnOf(trust, err));
  return {
    datasets: checker.datasets(),
    testPolicy: createTestPolicy({ check: checker.budgeted, datasets: checker.datasets }),
    validate(text, features) {
      const { permitted } = sortFeatures(readFeatures(features), EVERYTHING);
      const spamTrap = permitted.length > 0;
      return checker.check({ text, mode: "either", asked: { features: permitted, spamTrap } });
    },
    present: (validation, features) =>
      present(
        validation,
        sortFeatures(readFeatures(features), EVERYTHING),
        publicUrlOf(process.config),
      ),
  };
}

function warnOf(trust: Trust | undefined, warn: (text: string) => void): void {
  const fault = trust?.fault();
  if (fault !== undefined) warn(`${fault.says} ${fault.toDo}\n`);
}

async function openPolicies(process: Process, terminal: Terminal): Promise<CliPolicies> {
  const store = await openAccountStore(process);
  const { db } = store.sql;
  const { config, clock, notices } = { ...process, ...store };
  const policies = new PolicyService({
    db,
    tiers: readTiersFile(config.tiersFile),
    clock,
    notices,
  });
  return {
    accounts: store.accounts,
    policies: policies.by(operatorNote(process, store)),
    author: systemUser(),
    testPolicy: async (...asked) => (await openValidator(process, terminal)).testPolicy(...asked),
  };
}

async function openHooks(process: Process): Promise<CliHooks> {
  const store = await openAccountStore(process);
  const { clock, ids, config } = process;
  const dns = openDns(config, "interactive", process);
  return {
    accounts: store.accounts,
    hooks: new HookService({
      hooks: new Hooks(store.sql.db),
      box: createSecretBox(await openSecretKey(config, store.sql)),
      ids,
      clock,
      publicUrl: () => publicUrlOf(config),
      checkHost: createPublicHostCheck({ addresses: dns.everyAddress, clock }),
    }),
    send,
  };
}

async function send({ url, headers, body }: SignedExample) {
  const signal = AbortSignal.timeout(10_000);
  const answer = await fetch(url, { method: "POST", headers, body, signal }).catch(() => {
    throw refuse(
      `${url} does not answer: start the service, or give this command its PORT or GATEPOST_PUBLIC_URL`,
    );
  });
  return { status: answer.status, body: await answer.text() };
}

const SERVER_TIMEOUT_MS = 30_000;

function askServer(base: string, key: string | undefined): AskServer {
  return async (path, body) => {
    const headers = {
      "content-type": "application/json",
      ...(key !== undefined && { "x-api-key": key }),
    };
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(SERVER_TIMEOUT_MS);
    try {
      const answer = await fetch(`${base}${path}`, { ...sent, headers, signal, redirect: "error" });
      return { status: answer.status, body: await answer.text() };
    } catch {
      throw new Error(
        `The server at ${base} did not answer. Is it running, and is --server right?`,
      );
    }
  };
}

const BULK = { files, clock, readPages: threadPages, onInterrupt } as const;

export function toolCommands(terminal: Terminal): readonly CommandUnknownOpts[] {
  const stored =
    <T extends object>(open: (process: Process, terminal: Terminal) => Promise<T>): Open<T> =>
    (use = "must_exist") =>
      openStored(config(), { terminal, use }, (process) => open(process, terminal));
  const openHere = () => command((process) => openValidator(process, terminal));
  const mcp = {
    version: programVersion(),
    openHere,
    askServer: (base: string) => askServer(base, config().apiKey),
    streams: { input: process.stdin, output: process.stdout },
  };
  return [
    checkCommand(terminal, openHere),
    bulkCommand(terminal, opening({ ...BULK, openCheck: () => openCheck(terminal) })),
    accountCommand(terminal, stored(openAccounts)),
    keyCommand(terminal, stored(openAccounts)),
    webhookCommand(terminal, () => command(openCliWebhooks)),
    listsCommand(terminal, stored(openCliLists)),
    forgetCommand(terminal, () => command(openForget)),
    decideCommand(terminal, openHere),
    policyCommand(terminal, stored(openPolicies)),
    hookCommand(terminal, stored(openHooks)),
    mailboxCommand(terminal, stored(openMailboxes)),
    watchCommand(terminal, stored(openWatch)),
    mcpCommand(terminal, opening(mcp)),
    migrateCommand(terminal, opening({ migrate: (how: MigrateOptions) => migrate(how, terminal) })),
    backupCommand(terminal, opening({ backUp })),
    doctorCommand(terminal, opening({ diagnose: () => diagnose(process.env) })),
  ];
}

const config = (): Config => readConfig(process.env);

const command = <T extends object>(
  open: (process: Process) => Promise<T>,
): Promise<T & { readonly close: () => Promise<void> }> =>
  openProcess(config(), { log: "silent" }, open);

async function migrate(options: MigrateOptions, { err }: Terminal): Promise<string> {
  leaveWhenAsked();
  const { words, close } = await command(async (process) => ({
    words: await migrated({ ...process, log: toPerson(process.log, err) }, options),
  }));
  await close();
  return words;
}

/** A person who waits for a long upgrade reads what a server writes into its log. */
function toPerson(log: Log, err: Terminal["err"]): Log {
  const say = (event: string, fields: object = {}): void =>
    err(`${[event, ...Object.values(fields).map(String)].join(" ")}\n`);
  return { ...log, info: say, warn: say };
}

async function migrated(
  process: Process,
  { restored, newSecretKey }: MigrateOptions,
): Promise<string> {
  const { config: settings, closing } = process;
  // What a server has in memory would not follow; several on PostgreSQL upgrade one after the other.
  if (settings.databaseUrl === undefined) closing.add(lockForServing(settings.dataDir));
  const sql = await openSql(process, "migrate", newSecretKey ? "any" : "known");
  const done = [`The database ${databasePlace(settings)} is at this version.`];
  if (restored) done.push(endedInWords(await endRestored(sql.db, clock.nowMs())));
  if (newSecretKey) {
    await adoptSecretKey(settings, sql);
    await endLists(sql.db);
    done.push(NEW_KEY_TAKEN);
  }
  return done.join("\n");
}

const NEW_KEY_TAKEN =
  "The database uses this secret key now. Every webhook, hook and account with tokens needs a new secret, every address rule a new entry. Kept lists end.";

function endedInWords({ jobs, webhooks, signIns }: EndedByRestore): string {
  const counts = [`lists ${String(jobs)}`, `webhooks ${String(webhooks)}`];
  return `Ended, because they were under way: ${counts.join(", ")}, sign-ins ${String(signIns)}.`;
}

function backUp(file: string): number {
  const { dataDir, databaseUrl } = config();
  if (databaseUrl === undefined) return backUpEmbedded(dataDir, file);
  throw new Error("the database is PostgreSQL: pg_dump backs it up (docs/operations/back-up.md)");
}

const openCheck = (terminal: Terminal): Promise<CommandBulkChecker> =>
  command(async (process) => {
    const trust = openTrust(process);
    const datasets = await openKnownLists(process);
    const { check, room, close } = openBulkChecker(process, { datasets, trust });
    process.closing.add(close);
    process.closing.add(() => warnOf(trust, terminal.err));
    return { check, room };
  });

function onInterrupt(stop: () => void): () => void {
  const leave = (): void => process.exit(130);
  const ask = (): void => {
    process.once("SIGINT", leave);
    stop();
  };
  process.once("SIGINT", ask).once("SIGTERM", stop);
  return () => void process.off("SIGINT", ask).off("SIGINT", leave).off("SIGTERM", stop);
}

async function openCliLists(process: Process): Promise<CliLists> {
  const store = await openAccountStore(process);
  const lists = await openStoredLists(process, store);
  const note = operatorNote(process, store);
  return {
    operator: lists.operator.by(note),
    refresh: {
      status: () => lists.refresh.status(),
      refresh: (confirmed) => refreshBy(note, lists.refresh, confirmed),
    },
    author: systemUser(),
  };
}

async function openForget(process: Process): Promise<CliForget> {
  requireDatabase(process.config);
  const store = await openAccountStore(process);
  const { db } = store.sql;
  const charges = new Charges({ db, ids: process.ids });
  const secretKey = await openSecretKey(process.config, store.sql);
  const deps = {
    db,
    clock,
    accounts: store.accounts,
    operator: (await openStoredLists(process, store)).operator,
    jobs: new Jobs({ db, charges, ids: process.ids }),
    box: createOctetBox(secretKey, LISTS),
    hash: createAccountHash(mailboxKey(secretKey)),
  };
  const note = operatorNote(process, store);
  return {
    look: (address) => findPerson(deps, address, true),
    async forget(address) {
      const report = await forgetPerson(deps, address, note);
      await pause(UNDER_WAY_MS);
      await findPerson(deps, address, false);
      return report;
    },
  };
}

async function openWatch(process: Process): Promise<CliWatch> {
  const store = await openAccountStore(process);
  const { datasets } = await openStoredLists(process, store);
  const { db } = store.sql;
  const watch = new WatchList({ db, datasets, clock, random: Math.random });
  const tiers = readTiersFile(process.config.tiersFile);
  return { accounts: store.accounts, watch, tiers, nowMs: () => clock.nowMs() };
}

async function openMailboxes(process: Process): Promise<CliMailboxes> {
  const { accounts, sql } = await openAccountStore(process);
  const hash = createAccountHash(mailboxKey(await openSecretKey(process.config, sql)));
  return { accounts, files, readPages: threadPages, findMailbox: createFindMailbox(hash) };
}

async function openAccounts(process: Process): Promise<CliAccounts> {
  const store = await openAccountStore(process);
  const note = operatorNote(process, store);
  return {
    accounts: store.accounts.by(note),
    keys: store.keys.by(note),
    credits: store.credits.by(note),
    switches: store.switches.by(note),
    reportOutcomes: store.reportOutcomes,
    unlock: (accountId) => new Guesses(store.sql.db).forget(accountId, note),
    async renewTokenSecret(accountId) {
      const { config, ids, log } = process;
      const tokens = createTokens({
        accounts: new Accounts(store.sql.db),
        box: createSecretBox(await openSecretKey(config, store.sql)),
        publicUrl: () => publicUrlOf(config),
        notices: store.notices,
        clock,
        ids,
        log,
      });
      return tokens.renewSecret(accountId, note);
    },
  };
}

function operatorNote({ ids }: Process, { sql: { db } }: AccountStore): Note {
  const audit = createAudit(db, ids, clock);
  return noteBy(audit, { actorId: operatorId(systemUser()), clientAddress: COMMAND_LINE });
}

async function openCliWebhooks(process: Process): Promise<CliWebhooks> {
  const { config } = process;
  requireDatabase(config);
  const store = await openAccountStore(process);
  const dns = openDns(config, "interactive", process);
  const { setup, dispatcher, deliveries } = openWebhooks(process, {
    sql: store.sql,
    secretKey: await openSecretKey(config, store.sql),
    addresses: dns.everyAddress,
  });
  return {
    accounts: store.accounts,
    setup: setup.by(operatorNote(process, store)),
    dispatcher,
    deliveries,
  };
}

function requireDatabase(config: Config): void {
  if (!hasDatabase(config)) throw refuse(missingWords(config).trim());
}
