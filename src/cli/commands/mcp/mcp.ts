import { Command } from "commander";
import { misuse, withOpened } from "../../terminal.ts";
import type { CliValidator } from "../check.ts";
import type { CliDecider } from "../gate/decide.ts";
import type { AgentStreams, AskServer } from "./serve-tools.ts";

interface McpDeps {
  readonly version: string;
  readonly openHere: () => Promise<CliValidator & CliDecider>;
  /** Requests to the server at this base URL. */
  readonly askServer: (base: string) => AskServer;
  /** Standard input and output. */
  readonly streams: AgentStreams;
}

interface McpOptions {
  readonly server?: string;
}

/** `gatepost mcp`: tools for agents by the Model Context Protocol. */
export function mcpCommand({ version, openHere, askServer, streams }: McpDeps): Command {
  return new Command("mcp")
    .description(
      "give agents the tools check, decide, check_list and explain (Model Context Protocol)",
    )
    .option(
      "--server <url>",
      "answer by the API of this server, with the key in GATEPOST_API_KEY; else in this process",
    )
    .action(async ({ server }: McpOptions) => {
      // Loaded here, because the other commands start faster without it.
      const { localBackend, serverBackend, serveTools } = await import("./serve-tools.ts");
      if (server !== undefined) {
        await serveTools(serverBackend(askServer(baseOf(server))), version, streams);
        return;
      }
      await withOpened(openHere, async (opened) => {
        await serveTools(localBackend(opened, opened), version, streams);
      });
    });
}

/** Without slashes at its end. */
function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw misuse(`--server: "${text}" is not an http or https URL`);
  }
  return url.href.replace(/\/+$/, "");
}
