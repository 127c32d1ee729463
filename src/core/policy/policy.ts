import type { MailKind } from "../mail/mail-hosts.ts";

export const DECISIONS = ["accept", "challenge", "review", "reject"] as const;
export type Decision = (typeof DECISIONS)[number];

export type CallerFact = string | number | boolean;

/** What the account's own traffic says of an entry; a sign-up is included, a message is not. */
const TRAFFIC_NUMBERS = [
  /** Spellings of the mailbox in 7 days. */
  "mailbox_seen",
  /** Mailboxes of the registrable domain in 24 hours. */
  "domain_mailboxes",
  /** Names below the registrable domain in 24 hours. */
  "sub_names",
  /** UTC days since the account first saw the registrable domain; 0 on the first. */
  "domain_known_days",
  /** Registrable domains first seen in the last 24 hours behind the registrable domain of the same mail host. */
  "mx_new_domains",
  /** Messages to the mailbox before this one, in 10 minutes and in 24 hours. */
  "sent_10m",
  "sent_day",
] as const;

const TRAFFIC_FLAGS = [
  /** The account sent to this mailbox before, in 90 days. */
  "sent_known",
  /** Far more messages than usual go to mailboxes that the account never sent to. */
  "wave",
  /** Of the last hour's sign-ups at large and free providers far more than usual have names of this shape. */
  "shape_wave",
] as const;

/** Distinct mailboxes before this one under one key of `count_by`, by window. */
export interface WindowCounts {
  readonly "10m": number;
  readonly day: number;
  readonly "30d": number;
}
export type CountWindow = keyof WindowCounts;

export type SourceCounts = Readonly<Record<string, WindowCounts>>;

/** Whole networks share a university, a meetup, a mobile carrier. */
export const NET = "net";

/** The largest of the names that were sent; undefined: none was, or the store has not said. */
export function largestCount(counts: SourceCounts, window: CountWindow): number | undefined {
  const names = Object.keys(counts).filter((name) => name !== NET);
  const figures = names.map((name) => counts[name]?.[window] ?? 0);
  return figures.length === 0 ? undefined : Math.max(...figures);
}

const FEEDBACK_NUMBERS = [
  /** Times that the account reported the mailbox as abuse in 90 days, and mailboxes of its domain in 30. */
  "mailbox_abused",
  "domain_abused",
  /** Messages to the mailbox that came back for good, and complaints of it, in 90 days. */
  "mailbox_bounced",
  "mailbox_complained",
  /** Of the registrable domain, mailboxes that bounced in 30 days. */
  "domain_bounced",
] as const;

export type TrafficFlag = (typeof TRAFFIC_FLAGS)[number];
export type TrafficNumber = (typeof TRAFFIC_NUMBERS)[number];
export type FeedbackNumber = (typeof FEEDBACK_NUMBERS)[number];

export type TrafficFacts = { readonly [Name in TrafficNumber]?: number | undefined } & {
  readonly [Name in TrafficFlag]?: boolean | undefined;
};
export type FeedbackFacts = { readonly [Name in FeedbackNumber]?: number | undefined };

export const VERIFIED = ["yes", "no", "unknown"] as const;
export type Verified = (typeof VERIFIED)[number];

export interface CheckFacts {
  readonly format: boolean;
  readonly disposable: boolean;
  readonly role: boolean;
  readonly free: boolean;
  readonly alias: boolean;
  readonly relay: boolean;
  readonly typo: boolean;
  readonly sms_gateway: boolean;
  readonly fresh?: boolean;
  readonly whitelist: boolean;
  readonly allowed: boolean;
  /** The operator denies the domain, the address or a mail host of it. */
  readonly denied: boolean;
  readonly dns: "yes" | "no" | "unknown";
  readonly confidence: number;
  readonly age_days?: number;
  readonly mail_kind?: MailKind;
  readonly signals: readonly string[];
  readonly domain: string;
  readonly registrable_domain?: string;
  readonly tld?: string;
  readonly mx: readonly string[];
}

/** What is known of one entry when a policy decides. An absent fact is unknown: no condition on it matches. */
export interface Facts {
  readonly checked: CheckFacts;
  readonly caller: ReadonlyMap<string, CallerFact>;
  readonly traffic?: TrafficFacts | undefined;
  readonly counts?: SourceCounts | undefined;
  readonly feedback?: FeedbackFacts | undefined;
  readonly verified?: Verified | undefined;
  /** The person answered a challenge before: rules that challenge are left out. */
  readonly confirmed?: boolean | undefined;
}

export type Messages = ReadonlyMap<string, string>;

/** Whom facts come from that may be missing while a decision is due: DNS and registries, or what the account counted. */
export type FactSource = "dns" | "account";

export interface PolicyRule {
  readonly matches: (facts: Facts) => boolean;
  readonly isOpen: (facts: Facts, missing: ReadonlySet<FactSource>) => boolean;
  /** Names of the facts that the conditions are about, "caller.NAME" included. */
  readonly facts: readonly string[];
  readonly decision: Decision;
  readonly reason: string;
  readonly messages?: Messages;
  readonly name: string;
}

export interface Policy {
  readonly rules: readonly PolicyRule[];
  readonly otherwise: Omit<PolicyRule, "matches" | "isOpen" | "facts" | "name">;
  readonly token: boolean;
}

export interface Outcome {
  readonly decision: Decision;
  readonly reason: string;
  /** Counts from 0; absent: no rule matched and `else` decides. */
  readonly rule?: number | undefined;
  readonly messages?: Messages | undefined;
}

/** Decides on what is known: a condition on an unknown fact does not match. */
export function decide(policy: Policy, facts: Facts): Outcome {
  let at = 0;
  for (const rule of policy.rules) {
    if (!isAnswered(rule, facts) && rule.matches(facts)) return outcomeOf(policy, at, facts);
    at += 1;
  }
  return outcomeOf(policy, -1, facts);
}

const isAnswered = ({ decision }: Pick<Outcome, "decision">, { confirmed }: Facts): boolean =>
  confirmed === true && decision === "challenge";

/** Decides while sources are `missing`; undefined as long as one of them can still change the first match. */
export function decideEarly(
  policy: Policy,
  facts: Facts,
  missing: ReadonlySet<FactSource>,
): Outcome | undefined {
  for (const [at, rule] of policy.rules.entries()) {
    if (isAnswered(rule, facts)) continue;
    if (rule.isOpen(facts, missing)) return undefined;
    if (rule.matches(facts)) return outcomeOf(policy, at, facts);
  }
  return outcomeOf(policy, -1, facts);
}

const LEFT_ACCEPTED = { decision: "accept", reason: "ok", messages: undefined } as const;

function outcomeOf(policy: Policy, at: number, facts: Facts): Outcome {
  const { otherwise } = policy;
  const last = isAnswered(otherwise, facts) ? LEFT_ACCEPTED : otherwise;
  const rule = policy.rules[at] ?? last;
  return {
    decision: rule.decision,
    reason: rule.reason,
    rule: at >= 0 ? at : undefined,
    messages: rule.messages,
  };
}

/** Each decision asks whether a rule is about one of the facts, so it is found once for a policy. */
function usesOneOf(names: ReadonlySet<string>): (policy: Policy) => boolean {
  const known = new WeakMap<Policy, boolean>();
  return (policy) => {
    const before = known.get(policy);
    if (before !== undefined) return before;
    const uses = policy.rules.some(({ facts }) => facts.some((fact) => names.has(fact)));
    known.set(policy, uses);
    return uses;
  };
}

export const AGE_FACTS: ReadonlySet<string> = new Set(["age_days", "fresh"]);

export const needsDomainAge = usesOneOf(AGE_FACTS);

export const usesFeedback = usesOneOf(new Set(FEEDBACK_NUMBERS));

const OF_ACCOUNT: ReadonlySet<string> = new Set([
  ...TRAFFIC_NUMBERS,
  ...TRAFFIC_FLAGS,
  ...FEEDBACK_NUMBERS,
]);

/** Facts of traffic and feedback that could have led to another outcome, where nobody counts. */
export function untestedFacts({ rules }: Policy, { rule = rules.length }: Outcome): string[] {
  const facts = rules.slice(0, rule).flatMap((one) => one.facts);
  return [...new Set(facts.filter((fact) => OF_ACCOUNT.has(fact) || /^count[._]/.test(fact)))];
}
