import { existsSync } from "node:fs";
import { join } from "node:path";
import { listFolder } from "../../adapters/lists/files/feed-copy.ts";
import { loadLists } from "../../adapters/lists/load/load-lists.ts";
import { noRules } from "../../adapters/lists/table/operator.ts";
import { attachDatasets } from "../../adapters/lists/table/shared-datasets.ts";
import { DATABASE_FILE } from "../../adapters/sql/engine/database.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import type { Log } from "../../ports/process/log.ts";
import { openDns } from "./checker.ts";
import type { Config } from "../settings/config.ts";
import { openLists } from "../feeds/lists.ts";
import { sharedByConfig } from "../feeds/shared-feeds.ts";
import { openAccountStore } from "./store.ts";

/** What commands without a server judge by. */
export interface KnownLists {
  readonly datasets: () => Datasets;
  readonly close: () => Promise<void>;
}

/**
 * The lists that lie in the data directory, and the operator's own where a database does; nothing is made there
 * that is not there.
 */
export async function openKnownLists(config: Config, log: Log): Promise<KnownLists> {
  const isEmbedded = config.databaseUrl === undefined;
  if (isEmbedded && !existsSync(join(config.dataDir, DATABASE_FILE))) {
    const fetched = attachDatasets(loadLists(listFolder(config.dataDir)).shared, noRules);
    return { datasets: () => fetched, close: () => Promise.resolve() };
  }
  const store = await openAccountStore(config);
  const dns = openDns(config, "bulk");
  const shared = sharedByConfig(config, store);
  const lists = await openLists(config, { sql: store.sql, lookup: dns, log, ...shared });
  return {
    datasets: lists.datasets,
    async close() {
      await lists.stop();
      dns.close();
      await store.close();
    },
  };
}
