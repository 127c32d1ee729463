import { InvalidArgumentError } from "@commander-js/extra-typings";
import { rowsFor } from "../command.ts";

/** `gatepost serve`: `serve` resolves when the service has stopped. */
export const serveCommand = rowsFor<{
  readonly serve: (port: string | undefined) => Promise<void>;
}>()("serve", {
  about: "run the service; its settings are environment variables (docs/configuration.md)",
  takes: (to) =>
    to.option("--port <port>", "where it listens, in place of PORT; 0 picks a free one", readPort),
  examples: ["gatepost serve", "HOST=0.0.0.0 PORT=80 gatepost serve"],
  run: ({ port }, { serve }) => serve(port),
});

function readPort(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text;
  throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
}

/** `gatepost worker`: `work` resolves when the worker has stopped, and rejects without DATABASE_URL. */
export const workerCommand = rowsFor<{ readonly work: () => Promise<void> }>()("worker", {
  about: "run bulk jobs and send webhooks, beside servers with the same DATABASE_URL",
  examples: ["DATABASE_URL=postgres://db/gatepost gatepost worker"],
  run: (_given, { work }) => work(),
});

export interface MigrateOptions {
  /** The database comes from a back-up: nothing that may have happened since may happen twice. */
  readonly restored: boolean;
  /** The secret key of the database is lost or must be replaced. */
  readonly newSecretKey: boolean;
}

/** `migrate` returns what was done, one sentence a line. */
export const migrateCommand = rowsFor<{
  readonly migrate: (options: MigrateOptions) => Promise<string>;
}>()("migrate", {
  about: "bring the database to this version, as every start does",
  takes: (to) =>
    to
      .option(
        "--restored",
        "the database comes from a back-up: end running batches, webhooks and sign-ins",
      )
      .option("--new-secret-key", "use another secret key; what the old one encrypted is lost"),
  examples: ["gatepost migrate"],
  run: async ({ restored = false, newSecretKey = false }, { migrate }) => ({
    text: `${await migrate({ restored, newSecretKey })}\n`,
  }),
});

/** `gatepost backup`: a copy of the embedded database, beside a running server. `backUp` returns its size in bytes. */
export const backupCommand = rowsFor<{ readonly backUp: (file: string) => number }>()("backup", {
  about: "copy the embedded database to a new file while the service runs; without the secret key",
  takes: (to) => to.argument("<file>", "the copy; must not exist"),
  json: "print only JSON",
  examples: ["gatepost backup /var/backups/gatepost.db"],
  run({ args: [file] }, { backUp }) {
    const bytes = backUp(file);
    const text = `${file}: ${String(bytes)} bytes. It does not contain the secret key.\n`;
    return { json: { file, bytes }, text };
  },
});
