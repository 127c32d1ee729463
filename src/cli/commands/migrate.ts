import { Command } from "commander";
import type { Terminal } from "../terminal.ts";

export interface MigrateOptions {
  /** The database comes from a back-up: nothing that may have happened since then shall happen again. */
  readonly restored: boolean;
}

export interface MigrateDeps {
  readonly terminal: Terminal;
  /** Says what was done, a sentence a line. */
  readonly migrate: (options: MigrateOptions) => Promise<string>;
}

/** `gatepost migrate`: brings the database to this version and says what it is now. */
export function migrateCommand({ terminal, migrate }: MigrateDeps): Command {
  return new Command("migrate")
    .description("bring the database to this version; every start does the same")
    .option("--restored", "it comes from a back-up: end lists, webhooks and sign-ins under way")
    .action(async ({ restored = false }: { readonly restored?: boolean }) =>
      terminal.out(`${await migrate({ restored })}\n`),
    );
}
