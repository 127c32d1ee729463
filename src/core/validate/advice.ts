import { type Advised, NOT_NOW, type Words } from "../checks/check.ts";
import { CHECKS, type Feature, type PremiumFields } from "../checks/registry.ts";
import { spamTrap } from "../checks/spam-trap.ts";

/** What one premium result means to a person who sends mail. */
export interface Advice extends Words {
  readonly check: Feature | "spam_trap";
  readonly title: string;
}

/** What was asked for and permitted, and what of it could not finish. */
export interface AdviceScope {
  readonly features: readonly Feature[];
  readonly unavailable: readonly Feature[];
}

type Result = Advised & PremiumFields;

/** One piece of advice for each asked check, in the order asked; the spam trap, where it was checked, at the end. */
export function advise(result: Result, { features, unavailable }: AdviceScope): readonly Advice[] {
  const pieces = features.flatMap((feature): readonly Advice[] => {
    const check = CHECKS.find(({ name }) => name === feature);
    if (check === undefined) return [];
    const { name, title } = check;
    return [
      { check: name, title, ...(unavailable.includes(name) ? NOT_NOW : check.advise(result)) },
    ];
  });
  if (result.spam_trap === undefined) return pieces;
  const { name, title } = spamTrap;
  return [...pieces, { check: name, title, ...spamTrap.advise(result) }];
}
