import type { Decision } from "../../core/policy/policy.ts";
import type { MarkWords } from "./verdict.ts";

export type DecisionCounts = Readonly<Record<Decision, number>>;

export interface EditableRule {
  readonly when: Readonly<Record<string, unknown>>;
  readonly then: Decision;
  readonly reason?: string;
  readonly message?: Readonly<Record<string, string>>;
}

export interface PolicyDocument {
  readonly rules: readonly EditableRule[];
  readonly else: Decision;
}

export interface PartWords extends MarkWords {
  readonly colour: string;
}

export const DECISION: Readonly<Record<Decision, PartWords>> = {
  accept: { words: "accept", mark: "yes", colour: "yes-fill" },
  challenge: { words: "ask again", mark: "unsure", colour: "accent-2" },
  review: { words: "review", mark: "unsure", colour: "unsure" },
  reject: { words: "reject", mark: "no", colour: "no-fill" },
};

const ROWS: readonly (readonly [fact: string, words: string, value: unknown])[] = [
  ["format", "the address is malformed", false],
  ["allowed", "it is on the allow list", true],
  ["denied", "it is on the deny list", true],
  ["typo", "the domain is misspelt", true],
  ["disposable", "it is disposable", true],
  ["confidence", "its score, at least", { gte: 80 }],
  ["dns", "it cannot receive mail", "no"],
  ["dns", "DNS does not answer", "unknown"],
  ["role", "it is a role address", true],
  ["free", "it is a free provider", true],
  ["alias", "it is an alias", true],
  ["relay", "a relay hides the address", true],
  ["age_days", "the domain's age in days, below", { lt: 30 }],
  ["domain_mailboxes", "new addresses at its domain, at least", { gte: 5 }],
  ["sub_names", "new sub-domains, at least", { gte: 5 }],
  ["domain_known_days", "known for fewer days than", { lt: 14 }],
  ["mx_new_domains", "new domains at its mail server, at least", { gte: 10 }],
  ["mailbox_seen", "spellings of the mailbox, at least", { gte: 3 }],
  ["mailbox_abused", "abuse by this mailbox, at least", { gte: 1 }],
  ["domain_abused", "abuse from its domain, at least", { gte: 3 }],
  ["mailbox_bounced", "messages to it that came back, at least", { gte: 1 }],
  ["mailbox_complained", "complaints of this mailbox, at least", { gte: 1 }],
  ["domain_bounced", "mailboxes of its domain that bounced, at least", { gte: 3 }],
  ["sent_10m", "messages to it in 10 minutes, at least", { gte: 3 }],
  ["sent_day", "messages to it in a day, at least", { gte: 10 }],
  ["sent_known", "no message went there before", false],
  ["wave", "far more messages than usual go to new mailboxes", true],
  ["count_10m", "sign-ups of one source in 10 minutes, at least", { gte: 20 }],
  ["count_day", "sign-ups of one source in a day, at least", { gte: 100 }],
  ["count_30d", "sign-ups of one source in 30 days, at least", { gte: 300 }],
  ["count.ip_day", "sign-ups from its IP address in a day, at least", { gte: 100 }],
  ["count.net_day", "sign-ups from its network in a day, at least", { gte: 500 }],
  ["shape_wave", "far more names than usual are made like this one", true],
  ["sms_gateway", "it turns mail into text messages", true],
  ["domain", "the domain is one of", ["example.com"]],
  ["registrable_domain", "the registrable domain is one of", ["example.com"]],
  ["tld", "the ending is one of", ["example"]],
  ["mx", "its mail server is one of", ["mx.example.com"]],
  ["mail_kind", "its mail server's kind is one of", ["forwarder"]],
];

/** What the value of a condition is; undefined for one that was written by hand and says more. */
function kindOf(value: unknown): "fixed" | "gte" | "lt" | "texts" | undefined {
  if (typeof value !== "object" || value === null) return "fixed";
  if (Array.isArray(value)) return "texts";
  const [[kind, figure] = ["", ""], ...others] = Object.entries(value);
  const isFigure = (kind === "gte" || kind === "lt") && typeof figure === "number";
  return isFigure && others.length === 0 ? kind : undefined;
}

export const CONDITIONS = ROWS.map(([fact, words, value]) => ({
  id: typeof value === "string" ? `${fact}-${value}` : fact,
  fact,
  words,
  value,
  kind: kindOf(value),
}));
export type EditableCondition = (typeof CONDITIONS)[number];

/** The condition of one fact and its value; undefined for one that was written by hand and says more. */
export const conditionOf = (fact: string, value: unknown): EditableCondition | undefined =>
  CONDITIONS.find((one) => {
    if (one.fact !== fact) return false;
    if (one.kind === "texts") return true;
    return one.kind === "fixed" ? one.value === value : kindOf(value) === one.kind;
  });

export function detailOf(value: unknown, { kind }: EditableCondition): string {
  if (kind === "fixed") return "";
  return kind === "texts" ? [value].flat().join(", ") : String(Object.values(Object(value))[0]);
}

export function valueOf(detail: string, { kind = "fixed" }: EditableCondition): unknown {
  if (kind !== "texts") return { [kind]: Math.max(0, Math.trunc(Number(detail)) || 0) };
  const words = detail.split(/[\s,]+/).filter((text) => text !== "");
  return words.map((text) => text.toLowerCase());
}

export const ruleWords = ({ when }: EditableRule): string =>
  Object.entries(when)
    .map(([fact, value]) => {
      const known = conditionOf(fact, value);
      return known === undefined
        ? `${fact.replaceAll("_", " ")} is ${JSON.stringify(value).replaceAll(/[{}"[\]]/g, "")}`
        : `${known.words} ${detailOf(value, known)}`.trim();
    })
    .join(" and ");

export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * Whether the draft may refuse somebody whom the live policy lets in: it says so without looking at any sign-up, and
 * rather once too often.
 */
export function mayRefuseMore(live: PolicyDocument, draft: PolicyDocument): boolean {
  if (draft.else === "reject" && live.else !== "reject") return true;
  if (draft.else !== "reject" && draft.rules.every(({ then }) => then !== "reject")) return false;
  const keyOf = ({ when, then }: EditableRule): string => JSON.stringify([when, then]);
  const [inLive, inDraft] = [live, draft].map(({ rules }) => new Set(rules.map(keyOf)));
  // A milder rule that is gone, or stands elsewhere, no longer protects from a refusal below it.
  const before = live.rules.filter((rule) => rule.then !== "reject" || inDraft?.has(keyOf(rule)));
  const after = draft.rules.filter((rule) => rule.then === "reject" || inLive?.has(keyOf(rule)));
  return !same(before.map(keyOf), after.map(keyOf));
}

export const inRules = (message: string): string =>
  message
    .replaceAll(
      /rules\[(\d+)\](?:\.\w+(?:\[\d+\])?)*:/g,
      (_, at: string) => `Rule ${String(Number(at) + 1)}:`,
    )
    .replaceAll(/\belse(?:_\w+)?:/g, "Otherwise:");
