import type { EntryFault } from "../../core/address/entry.ts";
import { FAULT_WORDS } from "../../core/validate/fault-words.ts";
import { type Signal, SIGNALS } from "../../core/evidence/signals.ts";
import type { EvidenceShape, Result } from "../api/shapes.ts";

/** What the postmark shows: colour and words say the same. */
export type Mark = "yes" | "no" | "unsure" | "quiet";

export interface Verdict {
  readonly mark: Mark;
  /** One or two words. */
  readonly stamp: string;
  /** Under it, smaller. */
  readonly small: string;
  /** A sentence that a person who sends mail understands. */
  readonly sentence: string;
  /** Why, as far as it is known. */
  readonly reason: string;
}

export interface Checked {
  readonly result: Result;
  readonly evidence: readonly EvidenceShape[];
  readonly fault?: EntryFault;
}

const what = (result: Result): string => (result.alias === undefined ? "domain" : "address");

/** The verdict in words. "Could not tell" is never shown as "no". */
export function verdictOf(checked: Checked): Verdict {
  const { result } = checked;
  if (!result.format) return malformed(checked);
  if (result.disposable) return disposable(checked);
  if (result.signals.includes("dns_indeterminate")) return unsure();
  if (!result.dns) return unreachable(checked);
  return good(checked);
}

function malformed({ result, fault }: Checked): Verdict {
  const why = fault === undefined ? "" : `${capital(FAULT_WORDS[fault])}.`;
  return {
    mark: "no",
    stamp: "Not valid",
    small: "bad format",
    sentence: `No mail can be sent to this: it is not a valid ${what(result)}.`,
    reason: why,
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function disposable({ result, evidence }: Checked): Verdict {
  const first = evidence[0];
  return {
    mark: "no",
    stamp: "Disposable",
    small: `${String(result.confidence)} of 100`,
    sentence:
      first?.signal === "disposable_account"
        ? "This address belongs to a throw-away mailbox."
        : "Mail to this domain ends up in a throw-away inbox.",
    reason: first === undefined ? "" : reasonOf(first),
  };
}

function unsure(): Verdict {
  return {
    mark: "unsure",
    stamp: "Could not tell",
    small: "try again",
    sentence: "Nobody could say whether this domain takes mail.",
    reason: "Its name servers gave no usable answer. That is often over in a minute: check again.",
  };
}

const UNREACHABLE: readonly (readonly [Signal, string])[] = [
  ["null_mx", "The domain itself says that it accepts no mail."],
  ["implicit_mx", "It has a web address but names no mail server."],
  ["mx_unresolvable", "It names mail servers, but none of them exists on the public internet."],
  ["special_use_domain", "The name is reserved for special use and never reaches the internet."],
  ["no_mx_records", "The domain names no mail server."],
];

function unreachable({ result, evidence }: Checked): Verdict {
  const known = UNREACHABLE.find(([signal]) => result.signals.includes(signal));
  const typo = evidence.find(({ signal }) => signal === "typo_domain");
  return {
    mark: "no",
    stamp: "No mail server",
    small: "cannot receive",
    sentence: "Mail to this domain would come back.",
    reason: `${known?.[1] ?? "No mail server can be reached."}${typo === undefined ? "" : ` ${meant(typo)}`}`,
  };
}

const meant = ({ subject }: EvidenceShape): string =>
  subject === undefined ? "It looks misspelt." : `Did they mean ${subject}?`;

function good({ result, evidence }: Checked): Verdict {
  const typo = evidence.find(({ signal }) => signal === "typo_domain");
  if (typo !== undefined || result.signals.includes("typo_domain")) {
    return {
      mark: "unsure",
      stamp: "Check the spelling",
      small: "takes mail",
      sentence: "It takes mail, but it may not be the address that was meant.",
      reason: typo === undefined ? "The domain looks like a misspelling." : meant(typo),
    };
  }
  return {
    mark: "yes",
    stamp: "Looks good",
    small: "takes mail",
    sentence: "Mail to this domain has somewhere to go, and nothing speaks of a throw-away inbox.",
    reason: goodReason(result),
  };
}

function goodReason(result: Result): string {
  if (result.signals.includes("privacy_relay"))
    return "It is a relay that hides a real mailbox: a person is behind it.";
  if (result.whitelist) return "The domain is known to be good.";
  if (result.confidence > 0)
    return "There is a trace of doubt, not enough to call it disposable. See why below.";
  return "Whether this very mailbox exists is not checked: only a message can tell.";
}

/** One piece of evidence with what was matched and where it came from; "" when only its meaning is known. */
export function reasonOf({ signal, subject, lists }: EvidenceShape): string {
  const words = subject === undefined ? undefined : SIGNALS[signal].found?.(subject);
  const from =
    lists.length === 0
      ? ""
      : `${words === undefined ? "Found" : ", found"} on ${joined(lists.map(({ id }) => id))}`;
  return words === undefined && from === "" ? "" : `${words ?? ""}${from}.`;
}

function joined(names: readonly string[]): string {
  if (names.length <= 1) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

export interface Fact {
  readonly mark: Mark;
  readonly words: string;
}

/** The five facts beside the verdict; none for what has no format. */
export function factsOf(result: Result): readonly Fact[] {
  if (!result.format) return [{ mark: "no", words: "Bad format" }];
  const tellable = !result.signals.includes("dns_indeterminate");
  return [
    { mark: "yes", words: "Format valid" },
    result.dns
      ? { mark: "yes", words: "Receives mail" }
      : tellable
        ? { mark: "no", words: "No mail server" }
        : { mark: "unsure", words: "Mail server unknown" },
    result.disposable
      ? { mark: "no", words: "Disposable" }
      : { mark: "yes", words: "Not disposable" },
    ...(result.whitelist ? [{ mark: "yes" as const, words: "Known good" }] : []),
    ...(result.alias === undefined ? [] : addressFacts(result)),
    { mark: "quiet", words: result.free ? "Free provider" : "Not a free provider" },
  ];
}

function addressFacts(result: Result): readonly Fact[] {
  return [
    { mark: "quiet", words: result.role ? "Role address" : "Not a role address" },
    ...(result.alias === true ? [{ mark: "quiet" as const, words: "An alias" }] : []),
  ];
}
