import { memoryRegistrationCache } from "../adapters/memory/registration-cache.ts";
import { createLog } from "../adapters/system/log.ts";
import type { CliValidator } from "../cli/commands/check.ts";
import { present } from "../service/check-one.ts";
import { readFeatures, sortFeatures } from "../service/features.ts";
import { openChecker } from "./checker.ts";
import { type Config, publicUrlOf } from "./config.ts";

/** The command line asks for itself and has every feature. */
const EVERYTHING = { premium: true };

/** Validates without a server and without a database. */
export function openCliValidator(config: Config): Promise<CliValidator> {
  const log = createLog({ level: "silent", showAddresses: false });
  const checker = openChecker(config, { log, registrations: memoryRegistrationCache() });
  return Promise.resolve({
    datasets: checker.datasets(),
    validate(text, features) {
      const { permitted } = sortFeatures(readFeatures(features), EVERYTHING);
      const spamTrap = permitted.length > 0;
      return Promise.resolve(checker.check(text, "either", { features: permitted, spamTrap }));
    },
    present: (validation, features) =>
      present(validation, sortFeatures(readFeatures(features), EVERYTHING), publicUrlOf(config)),
    close: () => Promise.resolve(checker.close()),
  });
}
