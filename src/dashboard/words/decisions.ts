import type { DecisionGroup, DecisionGroups, FeedbackMark } from "../../http/account/shapes.ts";
import { count, counted, plural } from "../lib/format.ts";
import { reasonName } from "./names.ts";
import { DECISION } from "./policy.ts";
import type { MarkWords } from "./verdict.ts";

export const FILTERS = {
  decision: "Decision",
  domain: "Domain",
  mailbox: "Mailbox",
  source: "Source",
  shape: "Shape",
  reason: "Reason",
  form: "Form",
  key: "Key",
  for: "Asked for",
} as const;
export type Filter = keyof typeof FILTERS;

const DIGITS = ["", "1 digit", "2 digits", "3 digits", "4 digits", "5 or more digits"];

function shapeWords(shape: string): string {
  const [, parts, digits] = /^(.*)\+(\d)$/.exec(shape) ?? [];
  if (parts === undefined) return `names of ${shape === "digits" ? "digits" : "mixed signs"}`;
  const some = DIGITS[Number(digits)] ?? "";
  return `names like ${parts}${some === "" ? "" : ` and ${some}`}`;
}

/** A value of the log for people: hashes are cut to what tells them apart. */
export function valueWords(filter: Filter, value: string): string {
  if (filter === "mailbox") return value.slice(0, 6);
  if (filter === "source")
    return value
      .replace(":", " ")
      .slice(0, value.indexOf(":") + 5)
      .toLowerCase();
  if (filter === "shape") return shapeWords(value);
  if (filter === "reason") return reasonName(value);
  return filter === "decision" ? (DECISION[value as keyof typeof DECISION]?.words ?? value) : value;
}

export const SAID: Readonly<Record<FeedbackMark["outcome"], MarkWords>> = {
  abuse: { mark: "no", words: "abuse" },
  bounce: { mark: "unsure", words: "bounced" },
  complaint: { mark: "unsure", words: "complained" },
  fine: { mark: "yes", words: "fine" },
};

const GROUP_KINDS = [
  ["domains", "domain"],
  ["mailboxes", "mailbox"],
  ["sources", "source"],
  ["shapes", "shape"],
] as const;

export interface NamedGroup extends DecisionGroup {
  readonly by: (typeof GROUP_KINDS)[number][1];
}

/** At most ten of a kind. A provider's domain and a shape have many honest people: they stand below the others. */
export function shownGroups(groups: DecisionGroups): readonly NamedGroup[] {
  const all = GROUP_KINDS.flatMap(([kind, by]) =>
    groups[kind].slice(0, 10).map((one) => ({ ...one, by })),
  );
  const isOfMany = ({ by, provider }: NamedGroup): number =>
    Number(by === "shape" || (by === "domain" && provider));
  return all.sort((a, b) => isOfMany(a) - isOfMany(b) || b.count - a.count);
}

const NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];

export function groupsSentence({
  total,
  stand_out: { groups, decisions },
}: DecisionGroups): string {
  if (groups === 0)
    return `No group stands out of ${counted(total, "sign-up")} of the last 24 hours.`;
  const many = `${NUMBERS[groups] ?? count(groups)} ${plural(groups, "group", "groups")}`;
  return `${many} made ${count(decisions)} of ${counted(total, "sign-up")} in the last 24 hours.`;
}

export function toldOf({ by, count: many, mailboxes, decided }: NamedGroup): string {
  const of = by === "mailbox" ? "" : `, ${counted(mailboxes, "mailbox", "mailboxes")}`;
  return `${counted(many, "sign-up")} of 1 ${by}${of}, ${count(decided.accept)} of them accepted.`;
}
