import type { Command } from "commander";
import { loadBundledDatasets } from "../adapters/lists/bundled.ts";
import { engineName } from "../adapters/sql/sqlite.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { systemFiles as files } from "../adapters/system/files.ts";
import { createLog } from "../adapters/system/log.ts";
import { loadSecretKey } from "../adapters/system/secrets.ts";
import { receiveWebhooks } from "../adapters/system/webhook-receiver.ts";
import { accountCommand } from "../cli/commands/account.ts";
import { bulkCommand } from "../cli/commands/bulk.ts";
import { checkCommand } from "../cli/commands/check.ts";
import { keyCommand } from "../cli/commands/key.ts";
import { migrateCommand } from "../cli/commands/migrate.ts";
import { serveCommand } from "../cli/commands/serve.ts";
import { type CliWebhooks, webhookCommand } from "../cli/commands/webhook.ts";
import type { Terminal } from "../cli/terminal.ts";
import { type BulkJudge, openBulkJudge } from "./bulk-judge.ts";
import { openDns } from "./checker.ts";
import { openCliValidator } from "./cli-validator.ts";
import { type Config, readConfig } from "./config.ts";
import { openAccountStore } from "./store.ts";
import { confirm, readInput } from "./terminal.ts";
import { openWebhooks } from "./webhooks.ts";

/** Every command, wired. Settings are read when a command runs, so that --help works with bad ones. */
export function allCommands(terminal: Terminal): readonly Command[] {
  const accountDeps = { terminal, openAccounts, readInput, confirm };
  return [
    serveCommand(() => serve(terminal)),
    checkCommand({ terminal, openValidator: () => openCliValidator(config()) }),
    bulkCommand({ terminal, files, clock, openJudge, onInterrupt }),
    accountCommand(accountDeps),
    keyCommand(accountDeps),
    webhookCommand({
      terminal,
      readInput,
      receive: receiveWebhooks,
      openWebhooks: openCliWebhooks,
    }),
    migrateCommand({ terminal, migrate }),
  ];
}

const config = (): Config => readConfig(process.env);

/** Runs until SIGTERM or SIGINT; a second signal does not wait. */
async function serve(terminal: Terminal): Promise<void> {
  // Loaded here, for the other commands start faster without a server's parts.
  const { startServer } = await import("./server.ts");
  const running = await startServer(config());
  terminal.err(`Gatepost listens on ${running.url}\n`);
  warnOfOldNode(terminal);
  await new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
  process.once("SIGINT", () => process.exit(130));
  await running.stop();
}

function warnOfOldNode(terminal: Terminal): void {
  if (!process.version.startsWith("v20.")) return;
  terminal.err("Node 20 is past its end of life and gets no fixes: please move to 22 or 24.\n");
}

async function migrate(): Promise<string> {
  const { dataDir } = config();
  const store = await openAccountStore(dataDir);
  await store.close();
  return `The database in ${dataDir} is at this version (${engineName}).`;
}

function openJudge(): Promise<BulkJudge> {
  const bundled = loadBundledDatasets();
  return Promise.resolve(openBulkJudge(config(), () => bundled));
}

/** The first interrupt asks, a second one does not. */
function onInterrupt(stop: () => void): () => void {
  const leave = (): void => process.exit(130);
  const ask = (): void => {
    process.once("SIGINT", leave);
    stop();
  };
  process.once("SIGINT", ask).once("SIGTERM", stop);
  return () => void process.off("SIGINT", ask).off("SIGINT", leave).off("SIGTERM", stop);
}

const openAccounts = (): ReturnType<typeof openAccountStore> => openAccountStore(config().dataDir);

async function openCliWebhooks(): Promise<CliWebhooks> {
  const settings = config();
  const store = await openAccountStore(settings.dataDir);
  const dns = openDns(settings, "interactive");
  const { setup, ping, deliveries } = openWebhooks({
    sql: store.sql,
    secretKey: loadSecretKey(settings.secretKey, settings.dataDir),
    addresses: dns.addresses,
    log: createLog({ level: "silent", showAddresses: false }),
  });
  return {
    accountId: async (account) => (await store.accounts.find(account))?.id,
    setup,
    ping,
    log: (accountId, limit) => deliveries.list(accountId, limit),
    async close() {
      dns.close();
      await store.close();
    },
  };
}
