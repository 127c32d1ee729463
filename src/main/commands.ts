import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { opening } from "../cli/command.ts";
import { serveCommand, workerCommand } from "../cli/commands/service.ts";
import type { Terminal } from "../cli/terminal.ts";
import { requireFiles } from "./program-files.ts";
import { readConfig, unknownSettings } from "./settings/config.ts";
import { leaveSoon, leaveWhenAsked, limitHeapGrowth, untilStopped } from "./terminal.ts";

/** Settings are read when a command runs, so that --help works with bad ones. */
export async function commandsFor(
  [name]: readonly string[],
  terminal: Terminal,
): Promise<readonly CommandUnknownOpts[]> {
  const service = [
    serveCommand(terminal, opening({ serve: (port?: string) => serve(terminal, port) })),
    workerCommand(terminal, opening({ work: () => work(terminal) })),
  ];
  if (service.some((command) => command.name() === name)) return service;
  const { toolCommands } = await import("./tools.ts");
  return [...service, ...toolCommands(terminal)];
}

async function serve(terminal: Terminal, port: string | undefined): Promise<void> {
  leaveWhenAsked();
  // Loaded here, for the other commands start faster without a server's parts.
  const { startServer } = await import("./service.ts");
  await runUntilStopped(terminal, async () => {
    const running = await startServer(
      readConfig({ ...process.env, ...(port !== undefined && { PORT: port }) }),
    );
    const listens = `Gatepost listens on ${running.url} (API documentation: ${running.url}/docs)`;
    const setUp =
      running.setUpUrl === undefined
        ? ""
        : `\nSet up this installation within 30 minutes: ${running.setUpUrl}`;
    return { stop: () => running.stop(), greeting: listens + setUp };
  });
}

async function work(terminal: Terminal): Promise<void> {
  leaveWhenAsked();
  const { startWorker } = await import("./worker.ts");
  await runUntilStopped(terminal, async () => {
    const running = await startWorker(readConfig(process.env));
    const seen = running.url === undefined ? "" : `, seen at ${running.url}`;
    return { stop: () => running.stop(), greeting: `Gatepost works as ${running.name}${seen}` };
  });
}

interface Greeting {
  readonly greeting: string;
  readonly stop: () => Promise<void>;
}

/** Runs until a signal; one that comes before all has started does not wait for that. */
async function runUntilStopped(terminal: Terminal, start: () => Promise<Greeting>): Promise<void> {
  requireFiles();
  limitHeapGrowth();
  for (const warning of unknownSettings(process.env)) terminal.err(`${warning}\n`);
  const { greeting, stop } = await start();
  terminal.err(`${greeting}\n`);
  warnOfOldNode(terminal);
  await untilStopped();
  await stop();
  leaveSoon();
}

function warnOfOldNode(terminal: Terminal): void {
  if (!process.version.startsWith("v20.")) return;
  terminal.err("Node 20 is past its end of life and gets no fixes: please move to 22 or 24.\n");
}
