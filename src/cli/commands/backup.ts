import { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import { jsonLine } from "../text.ts";
import type { JsonOption } from "./options.ts";

export interface BackUpDeps {
  readonly terminal: Terminal;
  /** Makes the copy; returns its size in bytes. */
  readonly backUp: (file: string) => Promise<number>;
}

/** `gatepost backup`: a copy of the embedded database, beside a running server. */
export function backupCommand({ terminal, backUp }: BackUpDeps): Command {
  return new Command("backup")
    .description(
      "copy the embedded database to a new file while the service runs; without the secret key",
    )
    .argument("<file>", "the copy; must not exist")
    .option("--json", "print only JSON")
    .action(async (file: string, { json }: JsonOption) => {
      const bytes = await backUp(file);
      const words = `${file}: ${String(bytes)} bytes. It does not contain the secret key.\n`;
      terminal.out(json === true ? jsonLine({ file, bytes }) : words);
    });
}
