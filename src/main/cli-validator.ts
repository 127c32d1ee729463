import { existsSync } from "node:fs";
import { join } from "node:path";
import { present } from "../check/single-check.ts";
import { readFeatures, sortFeatures } from "../check/features.ts";
import { memoryRegistrationCache } from "../check/rdap/registration.ts";
import type { CliValidator } from "../cli/commands/check.ts";
import type { CliDecider } from "../cli/commands/decide.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { Trust } from "../dns/trust/trust.ts";
import { createTestPolicy } from "../gate/rule-entry.ts";
import { attachDatasets, noRules } from "../lists/shared-datasets.ts";
import { DATABASE_FILE } from "../store/embedded/sqlite.ts";
import { openChecker, openTrust } from "./checker.ts";
import { openStoredLists } from "./lists.ts";
import type { Process } from "./process.ts";
import { publicUrlOf } from "./settings/config.ts";
import { openAccountStore } from "./store.ts";

/** The lists of the database, or where there is none those that came with the program. Makes no database. */
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

const EVERYTHING = { premium: true };

/** Validates and decides without a server. `warn` is called at the end when DNS cannot be trusted. */
export async function openCliValidator(
  process: Process,
  warn: (text: string) => void,
): Promise<CliValidator & CliDecider> {
  const datasets = await openKnownLists(process);
  const trust = openTrust(process);
  process.closing.add(() => trust?.close());
  const registrations = memoryRegistrationCache();
  const checker = openChecker(process, { registrations, datasets, trust });
  process.closing.add(() => warnOf(trust, warn));
  return {
    datasets: checker.datasets(),
    testPolicy: createTestPolicy({ check: checker.budgeted, datasets: checker.datasets }),
    validate(text, features) {
      const { permitted } = sortFeatures(readFeatures(features), EVERYTHING);
      const spamTrap = permitted.length > 0;
      return checker.check({ text, mode: "either", asked: { features: permitted, spamTrap } });
    },
    present: (validation, features) =>
      present(
        validation,
        sortFeatures(readFeatures(features), EVERYTHING),
        publicUrlOf(process.config),
      ),
  };
}

export function warnOf(trust: Trust | undefined, warn: (text: string) => void): void {
  const fault = trust?.fault();
  if (fault !== undefined) warn(`${fault.says} ${fault.toDo}\n`);
}
