import { Command } from "commander";
import type { Terminal } from "../terminal.ts";

export interface MigrateOptions {
  /** The database comes from a back-up: nothing that may have happened since may happen twice. */
  readonly restored: boolean;
  /** The secret key of the database is lost or must be replaced. */
  readonly newSecretKey: boolean;
}

export interface MigrateDeps {
  readonly terminal: Terminal;
  /** Returns what was done, one sentence a line. */
  readonly migrate: (options: MigrateOptions) => Promise<string>;
}

/** `gatepost migrate`: brings the database to this version and prints the result. */
export function migrateCommand({ terminal, migrate }: MigrateDeps): Command {
  return new Command("migrate")
    .description("bring the database to this version, as every start does")
    .option(
      "--restored",
      "the database comes from a back-up: end running batches, webhooks and sign-ins",
    )
    .option("--new-secret-key", "use another secret key; what the old one encrypted is lost")
    .action(async ({ restored = false, newSecretKey = false }: Partial<MigrateOptions>) =>
      terminal.out(`${await migrate({ restored, newSecretKey })}\n`),
    );
}
