import { Command } from "commander";
import type { Terminal } from "../terminal.ts";

export interface MigrateOptions {
  /** The database comes from a back-up: nothing that may have happened since then shall happen again. */
  readonly restored: boolean;
  /** The secret key that the database was used with is lost, or to be given up. */
  readonly newSecretKey: boolean;
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
    .option("--new-secret-key", "go on with another secret key: what the old one sealed is lost")
    .action(async ({ restored = false, newSecretKey = false }: Partial<MigrateOptions>) =>
      terminal.out(`${await migrate({ restored, newSecretKey })}\n`),
    );
}
