import type { Command } from "commander";
import type { AskServer } from "../cli/commands/mcp/backend.ts";
import { mcpCommand } from "../cli/commands/mcp/mcp.ts";
import type { Terminal } from "../cli/terminal.ts";
import { openCliValidator } from "./parts/cli-validator.ts";
import type { Process } from "./process/open-process.ts";
import { programVersion } from "./process/program-version.ts";
import type { Config } from "./settings/config.ts";

/** A check ends after 5 s, a list after 10 s. */
const SERVER_TIMEOUT_MS = 30_000;

export interface McpParts {
  readonly terminal: Terminal;
  readonly config: () => Pick<Config, "apiKey">;
  /** Opens a process for one command. */
  readonly run: <T extends object>(
    open: (process: Process) => Promise<T>,
  ) => Promise<T & { readonly close: () => Promise<void> }>;
}

/** `gatepost mcp`, wired. */
export const wiredMcpCommand = ({ terminal, config, run }: McpParts): Command =>
  mcpCommand({
    version: programVersion(),
    openHere: () => run((process) => openCliValidator(process, terminal.err)),
    askServer: (base) => askServer(base, config().apiKey),
    inputEnded: () =>
      new Promise((resolve) => void process.stdin.once("end", resolve).once("close", resolve)),
  });

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
