import { Command } from "commander";

/** `gatepost serve`: `serve` resolves when the service has stopped. */
export function serveCommand(serve: () => Promise<void>): Command {
  return new Command("serve")
    .description("run the service; its settings are environment variables (docs/configuration.md)")
    .action(serve);
}
