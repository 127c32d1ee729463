import { memoryRegistrationCache } from "../adapters/memory/registration-cache.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { listFolder } from "../adapters/lists/list-copy.ts";
import { loadLists } from "../adapters/lists/load-lists.ts";
import { noOperatorLists } from "../adapters/lists/operator.ts";
import { attachDatasets } from "../adapters/lists/shared-datasets.ts";
import { DATABASE_FILE } from "../adapters/sql/database.ts";
import { createLog } from "../adapters/system/log.ts";
import type { CliValidator } from "../cli/commands/check.ts";
import type { Datasets } from "../core/datasets.ts";
import type { Log } from "../ports/log.ts";
import { present } from "../service/check-one.ts";
import { readFeatures, sortFeatures } from "../service/features.ts";
import { openChecker, openDns } from "./checker.ts";
import { type Config, publicUrlOf } from "./config.ts";
import { openLists } from "./lists.ts";
import { openAccountStore } from "./store.ts";

/** The command line asks for itself and has every feature. */
const EVERYTHING = { premium: true };

/**
 * Validates without a server: by the lists that lie in the data directory, and by the operator's own where a
 * database does; nothing is made there that is not there.
 */
export async function openCliValidator(config: Config): Promise<CliValidator> {
  const log = createLog({ level: "silent", showAddresses: false });
  const known = await openKnown(config, log);
  const { datasets } = known;
  const checker = openChecker(config, { log, registrations: memoryRegistrationCache(), datasets });
  return {
    datasets: checker.datasets(),
    validate(text, features) {
      const { permitted } = sortFeatures(readFeatures(features), EVERYTHING);
      const spamTrap = permitted.length > 0;
      return Promise.resolve(checker.check(text, "either", { features: permitted, spamTrap }));
    },
    present: (validation, features) =>
      present(validation, sortFeatures(readFeatures(features), EVERYTHING), publicUrlOf(config)),
    async close() {
      checker.close();
      await known.close();
    },
  };
}

interface Known {
  readonly datasets: () => Datasets;
  readonly close: () => Promise<void>;
}

async function openKnown(config: Config, log: Log): Promise<Known> {
  if (!existsSync(join(config.dataDir, DATABASE_FILE))) {
    const fetched = attachDatasets(loadLists(listFolder(config.dataDir)).shared, noOperatorLists);
    return { datasets: () => fetched, close: () => Promise.resolve() };
  }
  const store = await openAccountStore(config.dataDir);
  const dns = openDns(config, "bulk");
  const lists = await openLists(config, { sql: store.sql, lookup: dns, log });
  return {
    datasets: lists.datasets,
    async close() {
      await lists.stop();
      dns.close();
      await store.close();
    },
  };
}
