import { SIGNALS, type Signal } from "../../core/evidence/signals.ts";
import { counted, joined, shownDay } from "../lib/format.ts";
import type { EvidenceShape, ResultJson } from "../../http/account/shapes.ts";

/** Good, bad, look at it, could not tell. Colour and words say the same. */
export type MarkKind = "yes" | "no" | "unsure" | "quiet";

export interface ShownVerdict {
  readonly mark: MarkKind;
  readonly stamp: string;
  readonly small: string;
  /** A sentence that a person who sends mail understands. */
  readonly sentence: string;
  readonly reason: string;
  readonly suggestion?: string;
}

export interface Checked {
  readonly result: ResultJson;
  readonly evidence: readonly EvidenceShape[];
  readonly problem?: string;
  readonly meant?: string;
  readonly dns_down?: boolean;
}

/** Whether the entry was an address, which alone can be an alias. */
const isAddress = (result: ResultJson): boolean => result.alias !== undefined;

type StampWords = readonly [
  mark: MarkKind,
  stamp: string,
  small: string,
  sentence: string,
  reason: string,
];

/** The verdict in words. "Could not tell" is never shown as "no"; a misspelling comes before everything but format. */
export function verdictOf(checked: Checked, entry = ""): ShownVerdict {
  const [mark, stamp, small, sentence, reason] = wordsOf(checked, entry);
  const { meant: suggestion } = checked;
  return { mark, stamp, small, sentence, reason, ...(suggestion && { suggestion }) };
}

function wordsOf(checked: Checked, entry: string): StampWords {
  const { result } = checked;
  const { signals } = result;
  if (!result.format) return malformed(checked, entry);
  if (signals.includes("typo_domain")) return misspelt(checked);
  if (result.disposable) return disposable(checked);
  if (signals.includes("dns_indeterminate")) return checked.dns_down ? NOT_ASKED : UNKNOWN;
  if (!result.dns) return unreachable(checked, entry);
  if (signals.includes("typo_local_part")) return neverIssued(result);
  return ["yes", "Looks good", "accepts mail", "This domain accepts mail.", goodReason(result)];
}

/** What was meant has an "@" that the entry lacks. */
const isLostAt = (meant = "", entry: string): boolean =>
  meant.includes("@") && !entry.includes("@");

function malformed({ result, problem = "", meant }: Checked, entry: string): StampWords {
  const looksLikeBoth = /^[^@\s]+\.[^@\s]+$/.test(entry.trim());
  const lost = isLostAt(meant, entry);
  const kind = isAddress(result) || lost || !looksLikeBoth ? "address" : "domain";
  const reason = lost ? "Perhaps the @ is missing." : problem;
  return ["no", "Bad format", "cannot be sent to", `This is not a complete ${kind}.`, reason];
}

function misspelt({ result, meant }: Checked): StampWords {
  const { domain } = result;
  const isLost = !result.dns && !result.signals.includes("dns_indeterminate");
  const parts = [
    isLost
      ? `${domain} has no mail server.`
      : result.dns
        ? `${domain} accepts mail, but it may not be the address that was meant.`
        : `DNS did not answer for ${domain}.`,
    meant === undefined ? "" : `It is close to ${meant.slice(meant.lastIndexOf("@") + 1)}.`,
    result.disposable ? `It is also called disposable: ${String(result.confidence)} of 100.` : "",
  ];
  const reason = parts.filter((part) => part !== "").join(" ");
  return isLost
    ? ["unsure", "Misspelt", "mail bounces", `Mail to ${domain} will bounce.`, reason]
    : ["unsure", "Misspelt", "check it", `${domain} is probably misspelt.`, reason];
}

const neverIssued = ({ domain }: ResultJson): StampWords => [
  "unsure",
  "Misspelt",
  "check it",
  "The part before the @ is probably misspelt.",
  `${domain} gives out no address with such characters.`,
];

function disposable({ result, evidence }: Checked): StampWords {
  const strongest = evidence.toSorted((a, b) => b.weight - a.weight)[0];
  const sentence = `This ${isAddress(result) ? "address" : "domain"} is disposable.`;
  const reason = strongest === undefined ? "" : reasonOf(strongest);
  if (strongest !== undefined && isDenied(strongest.signal, strongest.by)) {
    const denied = `This ${isAddress(result) ? "address" : "domain"} is denied by the operator.`;
    return ["no", "Denied", "by the operator", denied, reason];
  }
  return ["no", "Disposable", `${String(result.confidence)} of 100`, sentence, reason];
}

const UNKNOWN: StampWords = [
  "quiet",
  "Could not tell",
  "try again",
  "DNS did not answer, so we cannot tell.",
  "This is not a “no”. Its name servers often answer a minute later: check again.",
];

const NOT_ASKED: StampWords = [
  "quiet",
  "Could not tell",
  "our DNS is away",
  "This service cannot ask DNS at the moment.",
  "Its own name server does not answer, which says nothing about the domain. Check again when the operator has mended it.",
];

const UNREACHABLE: readonly Signal[] = [
  "null_mx",
  "implicit_mx",
  "mx_unresolvable",
  "special_use_domain",
  "no_mx_records",
];

function unreachable({ result, meant }: Checked, entry: string): StampWords {
  const known = UNREACHABLE.find((signal) => result.signals.includes(signal));
  const reason = known === undefined ? "No mail server can be reached." : SIGNALS[known].short;
  const lost = isLostAt(meant, entry) ? " Perhaps the @ is missing." : "";
  const kind = isAddress(result) ? "address" : "domain";
  const stamp = "No mail server";
  if (known !== "implicit_mx")
    return ["no", stamp, "mail bounces", `Mail to this ${kind} will bounce.`, reason + lost];
  const why = `${reason} Some senders then try the web server, which seldom takes mail.${lost}`;
  return ["unsure", stamp, "mail may bounce", `Mail to this ${kind} may bounce.`, why];
}

function goodReason(result: ResultJson): string {
  if (result.signals.includes("privacy_relay"))
    return "It forwards to a real mailbox: a person is behind it.";
  if (result.whitelist) return "The domain is known to be good.";
  if (result.confidence > 0)
    return "There is a sign against it, but not enough to call it disposable.";
  return "No sign of being disposable. Only a message can show whether this mailbox exists.";
}

/** Short facts beside the verdict; none for what has no format. */
export function factsOf(result: ResultJson): readonly (readonly [MarkKind, string])[] {
  if (!result.format) return [["no", "Bad format"]];
  const isUnknown = result.signals.includes("dns_indeterminate");
  const isUnnamed = result.signals.includes("implicit_mx");
  return [
    ["yes", "Format is right"],
    result.dns
      ? ["yes", "Accepts mail"]
      : isUnknown
        ? ["quiet", "Mail server unknown"]
        : [isUnnamed ? "unsure" : "no", "No mail server"],
    result.disposable ? ["no", "Disposable"] : ["yes", "Not disposable"],
    ...(result.whitelist ? [["yes", "Known good"] as const] : []),
    ...(isAddress(result)
      ? [["quiet", result.role ? "Role address" : "Not a role address"] as const]
      : []),
    ...(result.alias === true ? [["quiet", "An alias"] as const] : []),
    ["quiet", result.free ? "Free provider" : "Not a free provider"],
  ];
}

/** No list is behind it but the operator's own. */
const isDenied = (signal: Signal, by?: string): boolean =>
  by === "operator" && signal !== "operator_allow";

/** The concrete reason: which name, which lists, since when. */
export function reasonOf({ signal, subject, by, lists }: EvidenceShape): string {
  const { found, short } = SIGNALS[signal];
  if (isDenied(signal, by)) {
    const server = signal.includes("mx") ? "Its mail server, " : "";
    return `${server}${subject ?? "It"}${server && ","} is denied by the operator of this service.`;
  }
  const first = found === null || subject === undefined ? short : `${found(subject)}.`;
  if (lists.length === 0) return first;
  const days = lists.flatMap(({ since }) => (since === null ? [] : [since.slice(0, 10)])).sort();
  const since = days[0] === undefined ? "" : `, since ${shownDay(days[0])}`;
  const names = joined(lists.map(({ id }) => id));
  return ON_LISTS.has(signal)
    ? `${subject ?? "It"} is on ${counted(lists.length, "list")} of disposable domains: ${names}${since}.`
    : `${first} Lists: ${names}${since}.`;
}

const ON_LISTS: ReadonlySet<Signal> = new Set(["blacklist_exact", "blacklist_single"]);

export function titleOf({ signal, by, lists }: EvidenceShape): string {
  if (isDenied(signal, by)) return "Denied by the operator";
  if (ON_LISTS.has(signal) && lists.length > 0) return `On ${counted(lists.length, "public list")}`;
  return SIGNALS[signal].short.replace(/\.$/, "");
}

export interface EvidenceShare {
  readonly piece: EvidenceShape;
  /** Points of the score: the shares of all pieces add up to it. */
  readonly points: number;
  /** Where its bar begins: the points of those before it. */
  readonly from: number;
}

/**
 * What each signal adds to the score, strongest first: its weight counts on what those before it left open. Rounded
 * by the largest remainder, so that the shares add up to `confidence`.
 */
export function sharesOf(
  evidence: readonly EvidenceShape[],
  confidence: number,
): readonly EvidenceShare[] {
  const counting = evidence.filter(({ weight }) => weight > 0);
  const sorted = [...counting].sort((a, b) => b.weight - a.weight);
  let open = 100;
  const exact = sorted.map(({ weight }) => {
    const part = (open * weight) / 100;
    open -= part;
    return part;
  });
  const points = exact.map(Math.floor);
  const missing = confidence - points.reduce((sum, part) => sum + part, 0);
  const byRemainder = [...exact.keys()].sort((a, b) => remainder(exact, b) - remainder(exact, a));
  for (const at of byRemainder.slice(0, Math.max(0, missing))) points[at] = (points[at] ?? 0) + 1;
  let from = 0;
  return sorted.map((piece, at) => {
    const share = { piece, points: points[at] ?? 0, from };
    from += share.points;
    return share;
  });
}

const remainder = (exact: readonly number[], at: number): number => (exact[at] ?? 0) % 1;
