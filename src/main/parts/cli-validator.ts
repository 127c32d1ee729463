import type { Trust } from "../../dns/trust/trust.ts";
import { memoryRegistrationCache } from "../../check/registration-cache.ts";
import type { CliValidator } from "../../cli/commands/check.ts";
import type { CliDecider } from "../../cli/commands/gate/decide.ts";
import { present } from "../../check/check-one.ts";
import { readFeatures, sortFeatures } from "../../check/features.ts";
import { createTestPolicy } from "../../gate/test-policy.ts";
import { openChecker } from "./checker.ts";
import type { Process } from "../process/open-process.ts";
import { publicUrlOf } from "../settings/links.ts";
import { openKnownLists } from "./known-lists.ts";

/** The command line asks for itself and has every feature. */
const EVERYTHING = { premium: true };

/** Validates and decides without a server. `warn` is called at the end when DNS cannot be trusted. */
export async function openCliValidator(
  process: Process,
  warn: (text: string) => void,
): Promise<Omit<CliValidator & CliDecider, "close">> {
  const datasets = await openKnownLists(process);
  const checker = openChecker(process, { registrations: memoryRegistrationCache(), datasets });
  process.closing.add(() => checker.close());
  process.closing.add(() => warnOf(checker.trust, warn));
  return {
    datasets: checker.datasets(),
    testPolicy: createTestPolicy({ check: checker.budgeted, datasets: checker.datasets }),
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

/** Says what is wrong with DNS, if anything is. */
export function warnOf(trust: Trust | undefined, warn: (text: string) => void): void {
  const warning = trust?.warning();
  if (warning !== undefined) warn(`${warning}\n`);
}
