import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DATABASE_FILE } from "../../store/database.ts";
import type { DatabaseUse, Terminal } from "../../cli/terminal.ts";
import type { Config } from "../settings/config.ts";
import { type Process, openProcess } from "./open-process.ts";

type PlaceConfig = Pick<Config, "dataDir" | "databaseUrl">;

/** Whether there is a database to read; one on PostgreSQL answers for itself. */
export const hasDatabase = ({ dataDir, databaseUrl }: PlaceConfig): boolean =>
  databaseUrl !== undefined || existsSync(join(dataDir, DATABASE_FILE));

const ELSEWHERE =
  "A server that was started in another folder keeps its data there: run the command there, or set GATEPOST_DATA_DIR.\n";

export const missingWords = ({ dataDir }: PlaceConfig): string =>
  `No database in ${resolve(dataDir)}. ${ELSEWHERE}`;

const createdWords = ({ dataDir }: PlaceConfig): string =>
  `Creating a database in ${resolve(dataDir)}. ${ELSEWHERE}`;

interface Use {
  readonly terminal: Pick<Terminal, "err">;
  readonly use: DatabaseUse;
}

/**
 * Opens stored accounts or lists for a command. Where there is no database, a command that only reads gets an empty one
 * that is removed at its end.
 */
export function openStored<T extends object>(
  config: Config,
  { terminal, use }: Use,
  open: (process: Process) => Promise<T>,
): Promise<T & { readonly close: () => Promise<void> }> {
  if (hasDatabase(config)) return openProcess(config, { log: "silent" }, open);
  terminal.err(use === "may_create" ? createdWords(config) : missingWords(config));
  if (use === "may_create") return openProcess(config, { log: "silent" }, open);
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-empty-"));
  return openProcess({ ...config, dataDir }, { log: "silent" }, (process) => {
    process.closing.add(() => rmSync(dataDir, { recursive: true, force: true }));
    return open(process);
  });
}
