import type { CheckDeps, Feature, PremiumFields, Subject } from "./check.ts";

/** What a caller asked for and may have. */
export interface Asked {
  /** In the order they were asked, none twice. */
  readonly features: readonly Feature[];
  /** Runs by itself where the tier includes it. */
  readonly spamTrap: boolean;
}

export interface CheckResults {
  readonly fields: PremiumFields;
  /** Checks that could not finish, in the order they were asked. */
  readonly unavailable: readonly Feature[];
  /** The domain's age was obtained and is below 30 days. */
  readonly freshDomain: boolean;
}

export const NOTHING_ASKED: CheckResults = { fields: {}, unavailable: [], freshDomain: false };

/** Runs the asked checks beside each other; never throws for what DNS or a registry says. */
export async function runChecks(
  _asked: Asked,
  _subject: Subject,
  _deps: CheckDeps,
): Promise<CheckResults> {
  return Promise.resolve(NOTHING_ASKED);
}
