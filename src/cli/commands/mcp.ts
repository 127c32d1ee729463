import { rowsFor } from "../command.ts";
import { misuse, withOpened } from "../terminal.ts";
import type { CliValidator } from "./check.ts";
import type { CliDecider } from "./decide.ts";
import type { AgentStreams, AskServer } from "../../../packages/mcp/src/serve-tools.ts";

interface CliMcp {
  readonly version: string;
  readonly openHere: () => Promise<
    CliValidator & CliDecider & { readonly close: () => Promise<void> }
  >;
  readonly askServer: (base: string) => AskServer;
  readonly streams: AgentStreams;
}

/** `gatepost mcp`: tools for agents by the Model Context Protocol. */
export const mcpCommand = rowsFor<CliMcp>()("mcp", {
  about: "give agents the tools check, decide, check_list and explain (Model Context Protocol)",
  takes: (to) =>
    to.option(
      "--server <url>",
      "answer by the API of this server, with the key in GATEPOST_API_KEY; else in this process",
      readBase,
    ),
  examples: [
    "gatepost mcp",
    "GATEPOST_API_KEY=gp_live_... gatepost mcp --server https://gatepost.example.com",
  ],
  async run({ server }, { version, openHere, askServer, streams }) {
    // Loaded here, because the other commands start faster without it.
    const { localBackend, serverBackend, serveTools } =
      await import("../../../packages/mcp/src/serve-tools.ts");
    if (server !== undefined) {
      await serveTools(serverBackend(askServer(server)), version, streams);
      return;
    }
    await withOpened(openHere, async (opened) => {
      await serveTools(localBackend(opened, opened), version, streams);
    });
  },
});

function readBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw misuse(`--server: "${text}" is not an http or https URL`);
  }
  return url.href.replace(/\/+$/, "");
}
