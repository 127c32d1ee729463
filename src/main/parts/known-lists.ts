import { existsSync } from "node:fs";
import { join } from "node:path";
import { noRules } from "../../lists/shared-datasets.ts";
import { attachDatasets } from "../../lists/shared-datasets.ts";
import { DATABASE_FILE } from "../../store/database.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import type { Process } from "../process/open-process.ts";
import { openStoredLists } from "../feeds/lists.ts";
import { openAccountStore } from "./backing/store.ts";

/**
 * What commands without a server check by: the lists of the database, or where there is none
 * those that came with the program. Makes no database.
 */
export async function openKnownLists(process: Process): Promise<() => Datasets> {
  const { config, machine } = process;
  const isEmbedded = config.databaseUrl === undefined;
  if (isEmbedded && !existsSync(join(config.dataDir, DATABASE_FILE))) {
    const loaded = machine.loadLists();
    const fetched = attachDatasets(loaded.shared, noRules);
    return () => fetched;
  }
  const { datasets } = await openStoredLists(process, await openAccountStore(process));
  return datasets;
}
