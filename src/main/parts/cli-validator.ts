import { memoryRegistrationCache } from "../../adapters/memory/registration-cache.ts";
import type { CliValidator } from "../../cli/commands/check.ts";
import { present } from "../../service/check/check-one.ts";
import { readFeatures, sortFeatures } from "../../service/check/features.ts";
import { openChecker } from "./checker.ts";
import type { Process } from "../process/open-process.ts";
import { publicUrlOf } from "../settings/config.ts";
import { openKnownLists } from "./known-lists.ts";

/** The command line asks for itself and has every feature. */
const EVERYTHING = { premium: true };

/** Validates without a server. */
export async function openCliValidator(process: Process): Promise<Omit<CliValidator, "close">> {
  const datasets = await openKnownLists(process);
  const checker = openChecker(process, { registrations: memoryRegistrationCache(), datasets });
  process.closing.add(() => checker.close());
  return {
    datasets: checker.datasets(),
    validate(text, features) {
      const { permitted } = sortFeatures(readFeatures(features), EVERYTHING);
      const spamTrap = permitted.length > 0;
      return Promise.resolve(checker.check(text, "either", { features: permitted, spamTrap }));
    },
    present: (validation, features) =>
      present(
        validation,
        sortFeatures(readFeatures(features), EVERYTHING),
        publicUrlOf(process.config),
      ),
  };
}
