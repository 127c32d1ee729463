import { Command } from "commander";
import type { Terminal } from "../terminal.ts";

/** `gatepost migrate`: `migrate` brings the database to this version and says what it is now. */
export function migrateCommand({
  terminal,
  migrate,
}: {
  readonly terminal: Terminal;
  readonly migrate: () => Promise<string>;
}): Command {
  return new Command("migrate")
    .description("bring the database to this version; every start does the same")
    .action(async () => terminal.out(`${await migrate()}\n`));
}
