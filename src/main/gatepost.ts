import { readFileSync } from "node:fs";
import { loadBundledDatasets } from "../adapters/lists/bundled.ts";
import { engineName } from "../adapters/sql/sqlite.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import { systemFiles as files } from "../adapters/system/files.ts";
import { accountCommand } from "../cli/commands/account.ts";
import { bulkCommand } from "../cli/commands/bulk.ts";
import { checkCommand } from "../cli/commands/check.ts";
import { keyCommand } from "../cli/commands/key.ts";
import { migrateCommand } from "../cli/commands/migrate.ts";
import { serveCommand } from "../cli/commands/serve.ts";
import { program, runProgram } from "../cli/program.ts";
import { type BulkJudge, openBulkJudge } from "./bulk-judge.ts";
import { openCliValidator } from "./cli-validator.ts";
import { type Config, readConfig } from "./config.ts";
import { startServer } from "./server.ts";
import { openAccountStore } from "./store.ts";
import { confirm, readInput, systemTerminal } from "./terminal.ts";

/** The command `gatepost`. Settings are read when a command needs them, so that --help works with bad ones. */

const terminal = systemTerminal();
const config = (): Config => readConfig(process.env);

function version(): string {
  const file = new URL("../../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}

/** Runs until SIGTERM or SIGINT; a second signal does not wait. */
async function serve(): Promise<void> {
  const running = await startServer(config());
  terminal.err(`Gatepost listens on ${running.url}\n`);
  warnOfOldNode();
  await new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
  process.once("SIGINT", () => process.exit(130));
  await running.stop();
}

function warnOfOldNode(): void {
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
const accountDeps = { terminal, openAccounts, readInput, confirm };

const root = program(version(), terminal, [
  serveCommand(serve),
  checkCommand({ terminal, openValidator: () => openCliValidator(config()) }),
  bulkCommand({ terminal, files, clock, openJudge, onInterrupt }),
  accountCommand(accountDeps),
  keyCommand(accountDeps),
  migrateCommand({ terminal, migrate }),
]);

process.exitCode = await runProgram(root, process.argv.slice(2), terminal);
