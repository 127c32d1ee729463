import { Command, InvalidArgumentError, Option } from "commander";

/** `gatepost serve`: `serve` resolves when the service has stopped. */
export function serveCommand(serve: (port: string | undefined) => Promise<void>): Command {
  return new Command("serve")
    .description("run the service; its settings are environment variables (docs/configuration.md)")
    .addOption(
      new Option(
        "--port <port>",
        "where it listens, in place of PORT; 0 picks a free one",
      ).argParser((text) => {
        if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text;
        throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
      }),
    )
    .action(({ port }: { readonly port?: string }) => serve(port));
}
