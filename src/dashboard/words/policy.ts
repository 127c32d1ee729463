import type { Decision, Rule } from "../api/gate.ts";
import { t } from "../app/i18n.ts";
import type { Mark } from "./verdict.ts";

export const DECISION_MARKS: Readonly<Record<Decision, Mark>> = {
  accept: "yes",
  challenge: "unsure",
  review: "unsure",
  reject: "no",
};

const DECISION_WORDS: Readonly<Record<Decision, string>> = {
  accept: "accept",
  challenge: "ask again",
  review: "review",
  reject: "reject",
};

export const decisionWords = (decision: Decision): string => t(DECISION_WORDS[decision]);

/** A condition that the page can edit: one fact, and a figure or texts where it has some. */
export interface Condition {
  readonly id: string;
  readonly words: string;
  readonly when: Rule["when"];
  /** The fact's figure may be changed, by this comparison. */
  readonly figure?: "gte" | "lt";
  /** The fact takes texts, separated by commas. */
  readonly texts?: true;
}

/** In the order of the choice. */
export const CONDITIONS: readonly Condition[] = [
  { id: "format", words: "the address is not valid", when: { format: false } },
  { id: "allowed", words: "it is on the allow list", when: { allowed: true } },
  { id: "denied", words: "it is on the deny list", when: { denied: true } },
  { id: "typo", words: "the domain is misspelt", when: { typo: true } },
  { id: "disposable", words: "it is disposable", when: { disposable: true } },
  {
    id: "confidence",
    words: "its score is at least",
    when: { confidence: { gte: 80 } },
    figure: "gte",
  },
  { id: "dns-no", words: "it cannot receive mail", when: { dns: "no" } },
  { id: "dns-unknown", words: "DNS does not answer", when: { dns: "unknown" } },
  { id: "role", words: "it is a role address", when: { role: true } },
  { id: "free", words: "it is a free provider", when: { free: true } },
  { id: "alias", words: "it is an alias", when: { alias: true } },
  { id: "relay", words: "a relay hides the address", when: { relay: true } },
  {
    id: "age",
    words: "the domain is younger than, in days",
    when: { age_days: { lt: 30 } },
    figure: "lt",
  },
  {
    id: "seen",
    words: "spellings of the mailbox are at least",
    when: { mailbox_seen: { gte: 3 } },
    figure: "gte",
  },
  { id: "domain", words: "the domain is one of", when: { domain: ["example.com"] }, texts: true },
  { id: "tld", words: "the ending is one of", when: { tld: ["example"] }, texts: true },
  { id: "mx", words: "its mail server is one of", when: { mx: ["mx.example.com"] }, texts: true },
];

const only = (when: Rule["when"]): readonly [string, unknown] | undefined => {
  const entries = Object.entries(when);
  return entries.length === 1 ? entries[0] : undefined;
};

/** The condition of a rule; undefined for one that was written by hand and says more. */
export function conditionOf({ when }: Rule): Condition | undefined {
  const [fact, value] = only(when) ?? ["", undefined];
  return CONDITIONS.find((condition) => {
    const [name, standard] = only(condition.when) ?? ["", undefined];
    if (name !== fact) return false;
    if (condition.texts === true) return true;
    if (condition.figure !== undefined) return figureIn(value, condition.figure) !== undefined;
    return value === standard;
  });
}

function figureIn(value: unknown, figure: "gte" | "lt"): number | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 1)
    return undefined;
  const found = (value as Record<string, unknown>)[figure];
  return typeof found === "number" ? found : undefined;
}

/** What the reader may change about a condition, as text. */
export function detailOf(rule: Rule, { figure, texts }: Condition): string {
  const [, value] = only(rule.when) ?? [];
  if (figure !== undefined) return String(figureIn(value, figure) ?? "");
  if (texts !== true) return "";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** Every condition of a rule in words; one that the page does not know as it was written. */
export function conditionWords(rule: Rule): string {
  const one = ([fact, value]: readonly [string, unknown]): string => {
    const alone = { ...rule, when: { [fact]: value } };
    const condition = conditionOf(alone);
    return condition === undefined
      ? `${fact} ${JSON.stringify(value)}`
      : `${t(condition.words)} ${detailOf(alone, condition)}`.trim();
  };
  return Object.entries(rule.when).map(one).join(", ");
}

/** The rule with another condition, or the same with another figure or other texts. */
export function withCondition(rule: Rule, condition: Condition, detail?: string): Rule {
  const [fact = ""] = only(condition.when) ?? [];
  if (detail === undefined) return { ...rule, when: condition.when };
  if (condition.figure !== undefined) {
    return {
      ...rule,
      when: { [fact]: { [condition.figure]: Math.max(0, Math.trunc(Number(detail)) || 0) } },
    };
  }
  const texts = detail
    .split(/[\s,]+/)
    .map((text) => text.toLowerCase())
    .filter((text) => text !== "");
  return { ...rule, when: { [fact]: texts } };
}
