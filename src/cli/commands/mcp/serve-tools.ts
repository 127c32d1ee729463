import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Backend } from "./backend.ts";
import { TOOLS } from "./tools.ts";

const INSTRUCTIONS =
  "Gatepost checks email addresses and domains without sending mail. format, dns and disposable decide; signals say why.";

/** Serves the tools on standard input and output, until `ended`. */
export async function serveTools(
  backend: Backend,
  version: string,
  ended: Promise<void>,
): Promise<void> {
  const serving = serveStdio(() => {
    const server = new McpServer({ name: "gatepost", version }, { instructions: INSTRUCTIONS });
    for (const { name, title, description, input, changes, call } of TOOLS) {
      server.registerTool(
        name,
        {
          title,
          description,
          inputSchema: fromJsonSchema(input as object),
          annotations: { readOnlyHint: !changes, openWorldHint: true },
        },
        async (given) => await shown(() => call(given, backend)),
      );
    }
    return server;
  });
  await ended;
  await serving.close();
}

/** The tool's answer; what went wrong is an answer too, so that the agent can read it. */
async function shown(call: () => Promise<object>) {
  try {
    const answer = await call();
    return { content: [{ type: "text" as const, text: JSON.stringify(answer) }] };
  } catch (error) {
    const text = error instanceof Error ? error.message : "The tool failed.";
    return { isError: true, content: [{ type: "text" as const, text }] };
  }
}
