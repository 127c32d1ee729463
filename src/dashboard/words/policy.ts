import type { MarkKind } from "./verdict.ts";

export const DECISIONS = ["accept", "challenge", "review", "reject"] as const;
export type ShownDecision = (typeof DECISIONS)[number];
export type DecisionCounts = Readonly<Record<ShownDecision, number>>;

export interface EditableRule {
  readonly when: Readonly<Record<string, unknown>>;
  readonly then: ShownDecision;
  readonly reason?: string;
  readonly message?: Readonly<Record<string, string>>;
}

export interface PolicyDocument {
  readonly rules: readonly EditableRule[];
  readonly else: ShownDecision;
}

export interface PartWords {
  readonly words: string;
  readonly mark: MarkKind;
  readonly colour: string;
}

export const DECISION: Readonly<Record<ShownDecision, PartWords>> = {
  accept: { words: "accept", mark: "yes", colour: "yes-fill" },
  challenge: { words: "ask again", mark: "unsure", colour: "accent-2" },
  review: { words: "review", mark: "unsure", colour: "unsure" },
  reject: { words: "reject", mark: "no", colour: "no-fill" },
};

/** A condition that the page can edit: one fact, and a figure or texts where it has some. */
export interface EditableCondition {
  readonly id: string;
  readonly words: string;
  readonly fact: string;
  /** What a new one begins with; of one without a figure or texts what it always is. */
  readonly value: unknown;
  readonly kind: "fixed" | "gte" | "lt" | "texts";
}

const fixed = (fact: string, words: string, value: unknown, id = fact): EditableCondition => {
  return { id, words, fact, value, kind: "fixed" };
};
const figure = (
  kind: "gte" | "lt",
  fact: string,
  words: string,
  value: number,
): EditableCondition => {
  return { id: fact, words, fact, value: { [kind]: value }, kind };
};
const texts = (fact: string, words: string, value: string): EditableCondition => {
  return { id: fact, words, fact, value: [value], kind: "texts" };
};

export const CONDITIONS: readonly EditableCondition[] = [
  fixed("format", "the address is malformed", false),
  fixed("allowed", "it is on the allow list", true),
  fixed("denied", "it is on the deny list", true),
  fixed("typo", "the domain is misspelt", true),
  fixed("disposable", "it is disposable", true),
  figure("gte", "confidence", "its score, at least", 80),
  fixed("dns", "it cannot receive mail", "no", "dns-no"),
  fixed("dns", "DNS does not answer", "unknown", "dns-unknown"),
  fixed("role", "it is a role address", true),
  fixed("free", "it is a free provider", true),
  fixed("alias", "it is an alias", true),
  fixed("relay", "a relay hides the address", true),
  figure("lt", "age_days", "the domain's age in days, below", 30),
  figure("gte", "domain_mailboxes", "new addresses at its domain, at least", 5),
  figure("gte", "sub_names", "new sub-domains, at least", 5),
  figure("lt", "domain_known_days", "known for fewer days than", 14),
  figure("gte", "mx_new_domains", "new domains at its mail server, at least", 10),
  figure("gte", "mailbox_seen", "spellings of the mailbox, at least", 3),
  figure("gte", "mailbox_abused", "abuse by this mailbox, at least", 1),
  figure("gte", "domain_abused", "abuse from its domain, at least", 3),
  figure("gte", "mailbox_bounced", "messages to it that came back, at least", 1),
  figure("gte", "mailbox_complained", "complaints of this mailbox, at least", 1),
  figure("gte", "domain_bounced", "mailboxes of its domain that bounced, at least", 3),
  figure("gte", "sent_10m", "messages to it in 10 minutes, at least", 3),
  figure("gte", "sent_day", "messages to it in a day, at least", 10),
  fixed("sent_known", "no message went there before", false),
  fixed("wave", "far more messages than usual go to new mailboxes", true),
  fixed("sms_gateway", "it turns mail into text messages", true),
  texts("domain", "the domain is one of", "example.com"),
  texts("tld", "the ending is one of", "example"),
  texts("mx", "its mail server is one of", "mx.example.com"),
  texts("mail_kind", "its mail server's kind is one of", "forwarder"),
];

function figureIn(value: unknown, kind: "gte" | "lt"): number | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 1)
    return undefined;
  const found = (value as Record<string, unknown>)[kind];
  return typeof found === "number" ? found : undefined;
}

/** The condition of one fact and its value; undefined for one that was written by hand and says more. */
export const conditionOf = (fact: string, value: unknown): EditableCondition | undefined =>
  CONDITIONS.find((one) => {
    if (one.fact !== fact) return false;
    if (one.kind === "texts") return true;
    return one.kind === "fixed" ? one.value === value : figureIn(value, one.kind) !== undefined;
  });

export function detailOf(value: unknown, { kind }: EditableCondition): string {
  if (kind === "fixed") return "";
  if (kind !== "texts") return String(figureIn(value, kind) ?? "");
  return Array.isArray(value) ? value.join(", ") : String(value);
}

export function valueOf(detail: string, { kind }: EditableCondition): unknown {
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
  const refuses = (document: PolicyDocument): boolean =>
    document.else === "reject" || document.rules.some(({ then }) => then === "reject");
  if (!refuses(draft)) return false;
  const bare = ({ when, then }: EditableRule): unknown => [when, then];
  const before = live.rules.map(bare);
  const after = draft.rules.map(bare);
  const isNewRefusal = draft.rules.some(
    (rule) => rule.then === "reject" && !before.some((known) => same(known, bare(rule))),
  );
  // A milder rule that is gone, or stands elsewhere, no longer protects from a refusal below it.
  const kept = before.filter((known) => after.some((one) => same(one, known)));
  const order = after.filter((one) => before.some((known) => same(one, known)));
  const isMilderGone = live.rules.some(
    (rule) => rule.then !== "reject" && !after.some((one) => same(one, bare(rule))),
  );
  return isNewRefusal || isMilderGone || !same(kept, order);
}

/** The server's words about a draft, with rules by their number instead of by a path. */
export const inRules = (message: string): string =>
  message
    .replaceAll(
      /rules\[(\d+)\](?:\.\w+(?:\[\d+\])?)*:/g,
      (_, at: string) => `Rule ${String(Number(at) + 1)}:`,
    )
    .replaceAll(/\belse(?:_\w+)?:/g, "Otherwise:");
