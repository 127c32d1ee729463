import { existsSync } from "node:fs";
import { join } from "node:path";
import { listFolder } from "../../lists/files/feed-copy.ts";
import { noRules } from "../../lists/table/families.ts";
import { attachDatasets } from "../../lists/table/shared-datasets.ts";
import { DATABASE_FILE } from "../../store/database.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import type { Process } from "../process/open-process.ts";
import { openStoredLists } from "../feeds/lists.ts";
import { openAccountStore } from "./backing/store.ts";

/**
 * What commands without a server check by: the lists in the data directory, and the operator's own where there is a
 * database. Makes no file there.
 */
export async function openKnownLists(process: Process): Promise<() => Datasets> {
  const { config, machine } = process;
  const isEmbedded = config.databaseUrl === undefined;
  if (isEmbedded && !existsSync(join(config.dataDir, DATABASE_FILE))) {
    const loaded = machine.loadLists(listFolder(config.dataDir));
    const fetched = attachDatasets(loaded.shared, noRules);
    return () => fetched;
  }
  const { datasets } = await openStoredLists(process, await openAccountStore(process));
  return datasets;
}
