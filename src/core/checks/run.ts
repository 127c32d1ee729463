import type { CheckDeps, CheckRun, Feature, Outcome, PremiumFields, Subject } from "./check.ts";
import { CHECKS } from "./registry.ts";
import { sharedLookup } from "./shared-lookup.ts";
import { checkSpamTrap } from "./spam-trap.ts";

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

/**
 * DNS questions that the premium checks of one entry ask at the most; with the three of a usual core check
 * (MX, A, AAAA) they are 45.
 */
export const QUESTIONS_MAX = 42;

/** Runs the asked checks beside each other; never throws for what DNS or a registry says. */
export async function runChecks(
  asked: Asked,
  subject: Subject,
  deps: CheckDeps,
): Promise<CheckResults> {
  const trap = asked.spamTrap ? { spam_trap: checkSpamTrap(subject, deps.datasets) } : {};
  if (asked.features.length === 0) return { ...NOTHING_ASKED, fields: trap };
  const running = start(asked.features, subject, deps);
  const fields = { ...trap, ...(await gather(running.values())) };
  const unavailable: Feature[] = [];
  for (const feature of asked.features) {
    if ((await running.get(feature))?.kind === "unavailable") unavailable.push(feature);
  }
  return { fields, unavailable, freshDomain: fields.domain_age?.fresh === true };
}

type Ending = Promise<Outcome<PremiumFields>>;

/** Starts the asked checks in the registry's order. */
function start(
  asked: readonly Feature[],
  subject: Subject,
  deps: CheckDeps,
): ReadonlyMap<Feature, Ending> {
  const running = new Map<Feature, Ending>();
  const questions = { asked: 0 };
  const lookup = sharedLookup(deps.lookup, questions);
  for (const [feature, check] of CHECKS) {
    if (!asked.includes(feature)) continue;
    const before = [...running.values()];
    const run: CheckRun = {
      ...deps,
      lookup,
      within: (milliseconds) => sharedLookup(deps.within(milliseconds), questions),
      obtained: () => gather(before),
      questionsLeft: async () => {
        await Promise.all(before);
        return Math.max(0, QUESTIONS_MAX - questions.asked);
      },
    };
    running.set(feature, check.run(subject, run));
  }
  return running;
}

/** The fields of all, once they have ended, in the contract's order. */
async function gather(endings: Iterable<Ending>): Promise<PremiumFields> {
  let fields: PremiumFields = {};
  for (const ending of await Promise.all(endings)) {
    if (ending.kind !== "done") continue;
    const auth = { ...fields.email_auth, ...ending.fields.email_auth };
    fields = { ...fields, ...ending.fields, email_auth: auth };
  }
  const { email_auth: auth = {}, domain_age, inbox_provider, deliverability_score } = fields;
  return {
    ...(Object.keys(auth).length === 0 ? {} : { email_auth: auth }),
    ...(domain_age === undefined ? {} : { domain_age }),
    ...(inbox_provider === undefined ? {} : { inbox_provider }),
    ...(deliverability_score === undefined ? {} : { deliverability_score }),
  };
}
