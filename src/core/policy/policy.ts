/** The decisions of a policy about a sign-up, mildest first. */
export const DECISIONS = ["accept", "challenge", "review", "reject"] as const;
export type Decision = (typeof DECISIONS)[number];

/** A fact that the caller sends along. */
export type CallerFact = string | number | boolean;

/** What is known of one entry when a policy decides. An absent member is unknown: no condition on it matches. */
export interface Facts {
  readonly format: boolean;
  readonly disposable: boolean;
  readonly role: boolean;
  readonly free: boolean;
  readonly alias: boolean;
  readonly relay: boolean;
  readonly typo: boolean;
  readonly fresh?: boolean;
  readonly whitelist: boolean;
  /** The operator of this service allows the domain or the address. */
  readonly allowed: boolean;
  /** The operator denies the domain, the address or a mail host of it. */
  readonly denied: boolean;
  readonly dns: "yes" | "no" | "unknown";
  /** 0 to 100. */
  readonly confidence: number;
  readonly age_days?: number;
  /** Spellings of the mailbox in the account's own traffic of 7 days. */
  readonly mailbox_seen?: number;
  readonly signals: readonly string[];
  readonly domain: string;
  readonly registrable_domain?: string;
  readonly tld?: string;
  /** Mail hosts and their registrable domains. */
  readonly mx: readonly string[];
  readonly caller: ReadonlyMap<string, CallerFact>;
}

/** Texts for the person at the form, by language tag in lower case. Not empty. */
export type Messages = ReadonlyMap<string, string>;

export interface PolicyRule {
  /** Whether all conditions hold. */
  readonly matches: (facts: Facts) => boolean;
  /** Names of the facts that the conditions are about, "caller.NAME" included. */
  readonly facts: readonly string[];
  readonly decision: Decision;
  readonly reason: string;
  readonly messages?: Messages;
}

/** A policy that was read and found right; the first rule that matches decides. */
export interface Policy {
  readonly rules: readonly PolicyRule[];
  readonly otherwise: Omit<PolicyRule, "matches" | "facts">;
  /** Every answer carries a token. */
  readonly token: boolean;
}

/** The decision of a policy about some facts. */
export interface Outcome {
  readonly decision: Decision;
  readonly reason: string;
  /** Counts from 0; absent: no rule matched and `else` decides. */
  readonly rule?: number;
  /** The policy's own words. */
  readonly messages?: Messages;
}

export function decide(policy: Policy, facts: Facts): Outcome {
  const at = policy.rules.findIndex((rule) => rule.matches(facts));
  const rule = policy.rules[at] ?? policy.otherwise;
  return {
    decision: rule.decision,
    reason: rule.reason,
    ...(at >= 0 && { rule: at }),
    ...(rule.messages !== undefined && { messages: rule.messages }),
  };
}

/** Whether the policy asks for the age of the domain, which takes a question to its registry. */
export const needsDomainAge = ({ rules }: Policy): boolean =>
  rules.some(({ facts }) => facts.some((fact) => AGE_FACTS.has(fact)));

/** Facts that only the premium check `domain_age` obtains. */
export const AGE_FACTS: ReadonlySet<string> = new Set(["age_days", "fresh"]);

/** Whether some rule looks at what the caller sent. */
export const usesCallerFacts = ({ rules }: Policy): boolean =>
  rules.some(({ facts }) => facts.some((fact) => fact.startsWith("caller.")));
