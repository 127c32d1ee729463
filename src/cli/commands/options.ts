import { Command, InvalidArgumentError, Option } from "commander";
import { type Terminal, print } from "../terminal.ts";

interface BackUpDeps {
  readonly terminal: Terminal;
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
      print(terminal, json, { file, bytes }, words);
    });
}

export interface MigrateOptions {
  /** The database comes from a back-up: nothing that may have happened since may happen twice. */
  readonly restored: boolean;
  /** The secret key of the database is lost or must be replaced. */
  readonly newSecretKey: boolean;
}

interface MigrateDeps {
  readonly terminal: Terminal;
  /** Returns what was done, one sentence a line. */
  readonly migrate: (options: MigrateOptions) => Promise<string>;
}

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

/** `gatepost worker`: `work` resolves when the worker has stopped, and rejects without DATABASE_URL. */
export function workerCommand(work: () => Promise<void>): Command {
  return new Command("worker")
    .description("run bulk jobs and send webhooks, beside servers with the same DATABASE_URL")
    .action(work);
}

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

/** A command about one account. */
export const aboutAccount = (name: string, description: string): Command =>
  new Command(name).description(description).argument("<account>", "its id or e-mail address");

export interface JsonOption {
  readonly json?: true;
}
