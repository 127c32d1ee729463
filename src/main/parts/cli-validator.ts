import { memoryRegistrationCache } from "../../adapters/memory/registration-cache.ts";
import { createLog } from "../../adapters/system/log.ts";
import type { CliValidator } from "../../cli/commands/check.ts";
import { present } from "../../service/check/check-one.ts";
import { readFeatures, sortFeatures } from "../../service/check/features.ts";
import { openChecker } from "./checker.ts";
import { type Config, publicUrlOf } from "../settings/config.ts";
import { openKnownLists } from "./known-lists.ts";

/** The command line asks for itself and has every feature. */
const EVERYTHING = { premium: true };

/** Validates without a server. */
export async function openCliValidator(config: Config): Promise<CliValidator> {
  const log = createLog({ level: "silent", showAddresses: false });
  const known = await openKnownLists(config, log);
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
