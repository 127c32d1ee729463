import type { Signal } from "../../core/evidence/signals.ts";
import { counted, joined, shownDay } from "../lib/format.ts";
import type { EvidenceShape, ResultJson } from "../../http/account/shapes.ts";

/** Good, bad, look at it, could not tell. Colour and words say the same. */
export type MarkKind = "yes" | "no" | "unsure" | "quiet";

export interface MarkWords {
  readonly mark: MarkKind;
  readonly words: string;
}

export interface ShownVerdict {
  readonly mark: MarkKind;
  readonly stamp: string;
  readonly small: string;
  readonly sentence: string;
  readonly reason: string;
}

export interface Checked {
  readonly result: ResultJson;
  readonly evidence: readonly EvidenceShape[];
  readonly problem?: string;
  readonly meant?: string;
  readonly dns_down?: string;
}

const isAddress = (result: ResultJson): boolean => result.alias !== undefined;

const verdict = (
  mark: MarkKind,
  stamp: string,
  small: string,
  sentence: string,
  reason: string,
): ShownVerdict => ({ mark, stamp, small, sentence, reason });

/** The verdict in words. "Could not tell" is never shown as "no"; a misspelling comes before everything but format. */
export function verdictOf(checked: Checked, entry = ""): ShownVerdict {
  const { result, meant } = checked;
  const { signals } = result;
  if (!result.format) return malformed(checked, entry);
  if (signals.includes("typo_domain")) return misspelt(result, meant);
  if (result.disposable) return disposable(checked);
  if (signals.includes("dns_indeterminate"))
    return checked.dns_down === undefined ? UNKNOWN : notAsked(checked.dns_down);
  if (!result.dns) return unreachable(checked, entry);
  if (!signals.includes("typo_local_part"))
    return verdict(
      "yes",
      "Looks good",
      "accepts mail",
      "This domain accepts mail.",
      goodReason(result),
    );
  const sentence = "The part before the @ is probably misspelt.";
  const reason = `${result.domain} gives out no address with such characters.`;
  return verdict("unsure", "Misspelt", "check it", sentence, reason);
}

const isLostAt = (meant = "", entry: string): boolean =>
  meant.includes("@") && !entry.includes("@");

function malformed({ result, problem = "", meant }: Checked, entry: string): ShownVerdict {
  const looksLikeBoth = /^[^@\s]+\.[^@\s]+$/.test(entry.trim());
  const lost = isLostAt(meant, entry);
  const kind = isAddress(result) || lost || !looksLikeBoth ? "address" : "domain";
  const sentence = `This is not a complete ${kind}.`;
  const reason = lost ? "Perhaps the @ is missing." : problem;
  return verdict("no", "Bad format", "cannot be sent to", sentence, reason);
}

function misspelt(result: ResultJson, meant = ""): ShownVerdict {
  const { domain, dns, signals } = result;
  const isLost = !dns && !signals.includes("dns_indeterminate");
  const parts = [
    isLost
      ? `${domain} has no mail server.`
      : dns
        ? `${domain} accepts mail, but it may not be the address that was meant.`
        : `DNS did not answer for ${domain}.`,
    meant && `It is close to ${meant.slice(meant.lastIndexOf("@") + 1)}.`,
    result.disposable && `It is also called disposable: ${String(result.confidence)} of 100.`,
  ];
  const reason = parts.filter(Boolean).join(" ");
  return isLost
    ? verdict("unsure", "Misspelt", "mail bounces", `Mail to ${domain} will bounce.`, reason)
    : verdict("unsure", "Misspelt", "check it", `${domain} is probably misspelt.`, reason);
}

function disposable({ result, evidence }: Checked): ShownVerdict {
  const [strongest] = evidence.toSorted((a, b) => b.weight - a.weight);
  const subject = `This ${isAddress(result) ? "address" : "domain"} is`;
  const reason = strongest === undefined ? "" : reasonOf(strongest);
  const score = `${String(result.confidence)} of 100`;
  return strongest !== undefined && isDenied(strongest)
    ? verdict("no", "Denied", "by the operator", `${subject} denied by the operator.`, reason)
    : verdict("no", "Disposable", score, `${subject} disposable.`, reason);
}

const UNKNOWN = verdict(
  "quiet",
  "Could not tell",
  "try again",
  "DNS did not answer, so we cannot tell.",
  "This is not a “no”. Its name servers often answer a minute later: check again.",
);

const notAsked = (silence: string): ShownVerdict =>
  verdict(
    "quiet",
    "Could not tell",
    "our DNS is away",
    "This service cannot ask DNS at the moment.",
    `${silence || "Its own name server does not answer."} It says nothing about the domain: check again when the operator has mended it.`,
  );

const UNREACHABLE: readonly Signal[] = [
  "null_mx",
  "implicit_mx",
  "mx_unresolvable",
  "special_use_domain",
  "no_mx_records",
];

function unreachable({ result, evidence, meant }: Checked, entry: string): ShownVerdict {
  const known = UNREACHABLE.find((signal) => result.signals.includes(signal));
  const piece = evidence.find(({ signal }) => signal === known);
  const says = piece?.says ?? "No mail server can be reached.";
  const lost = isLostAt(meant, entry) ? " Perhaps the @ is missing." : "";
  const to = `Mail to this ${isAddress(result) ? "address" : "domain"}`;
  if (known !== "implicit_mx")
    return verdict("no", "No mail server", "mail bounces", `${to} will bounce.`, says + lost);
  const why = `${says} Some senders then try the web server, which seldom takes mail.${lost}`;
  return verdict("unsure", "No mail server", "mail may bounce", `${to} may bounce.`, why);
}

function goodReason(result: ResultJson): string {
  if (result.signals.includes("privacy_relay"))
    return "It forwards to a real mailbox: a person is behind it.";
  if (result.whitelist) return "The domain is known to be good.";
  if (result.confidence > 0)
    return "There is a sign against it, but not enough to call it disposable.";
  return "No sign of being disposable. Only a message can show whether this mailbox exists.";
}

export function factsOf(result: ResultJson): readonly (readonly [MarkKind, string])[] {
  if (!result.format) return [["no", "Bad format"]];
  const { signals } = result;
  const server: readonly [MarkKind, string] = result.dns
    ? ["yes", "Accepts mail"]
    : signals.includes("dns_indeterminate")
      ? ["quiet", "Mail server unknown"]
      : [signals.includes("implicit_mx") ? "unsure" : "no", "No mail server"];
  const facts: readonly (readonly [MarkKind, string | false | undefined])[] = [
    ["yes", "Format is right"],
    server,
    result.disposable ? ["no", "Disposable"] : ["yes", "Not disposable"],
    ["yes", result.whitelist && "Known good"],
    ["quiet", isAddress(result) && (result.role ? "Role address" : "Not a role address")],
    ["quiet", result.alias && "An alias"],
    ["quiet", result.free ? "Free provider" : "Not a free provider"],
  ];
  return facts.flatMap(([mark, words]) => (words ? [[mark, words] as const] : []));
}

const isDenied = ({ signal, by }: EvidenceShape): boolean =>
  by === "operator" && signal !== "operator_allow";

export function reasonOf(piece: EvidenceShape): string {
  const { signal, subject, says, lists } = piece;
  if (isDenied(piece)) {
    const server = signal.includes("mx") ? "Its mail server, " : "";
    return `${server}${subject ?? "It"}${server && ","} is denied by the operator of this service.`;
  }
  if (lists.length === 0) return says;
  const [oldest] = lists.flatMap(({ since }) => since?.slice(0, 10) ?? []).sort();
  const since = oldest === undefined ? "" : `, since ${shownDay(oldest)}`;
  const names = joined(lists.map(({ id }) => id));
  return ON_LISTS.has(signal)
    ? `${subject ?? "It"} is on ${counted(lists.length, "list")} of disposable domains: ${names}${since}.`
    : `${says} Lists: ${names}${since}.`;
}

const ON_LISTS: ReadonlySet<Signal> = new Set(["blacklist_exact", "blacklist_single"]);

export function titleOf(piece: EvidenceShape): string {
  const { signal, title, lists } = piece;
  if (isDenied(piece)) return "Denied by the operator";
  if (ON_LISTS.has(signal) && lists.length > 0) return `On ${counted(lists.length, "public list")}`;
  return title;
}

export interface EvidenceShare {
  readonly piece: EvidenceShape;
  /** Points of the score: the shares of all pieces add up to it. */
  readonly points: number;
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
