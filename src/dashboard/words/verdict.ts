import type { EntryFault } from "../../core/address/address.ts";
import { FAULT_WORDS } from "../../core/validate/malformed.ts";
import { SIGNALS, type Signal } from "../../core/evidence/signals.ts";
import type { EvidenceShape, Result } from "../api/shapes.ts";
import { t } from "../app/i18n.ts";
import { counted } from "../app/numbers.ts";
import { joined, listedSince, reasonOf } from "./evidence.ts";

/** Good, bad, look at it, could not tell. Colour and words say the same. */
export type Mark = "yes" | "no" | "unsure" | "quiet";

export interface Verdict {
  readonly mark: Mark;
  /** One or two words. */
  readonly stamp: string;
  /** Below it, smaller. */
  readonly small: string;
  /** A sentence that a person who sends mail understands. */
  readonly sentence: string;
  /** The concrete reason, as far as it is known. */
  readonly reason: string;
  /** The entry as it was probably meant. */
  readonly suggestion?: string;
}

export interface Checked {
  readonly result: Result;
  readonly evidence: readonly EvidenceShape[];
  readonly fault?: EntryFault;
  readonly meant?: string;
}

/** Whether the entry was an address, which alone can be an alias. */
export const isAddress = (result: Result): boolean => result.alias !== undefined;

/** The verdict in words. "Could not tell" is never shown as "no"; a misspelling comes before everything but format. */
export function verdictOf(checked: Checked, entry = ""): Verdict {
  const { meant } = checked;
  const verdict = plainVerdict(checked, entry);
  return meant === undefined ? verdict : { ...verdict, suggestion: meant };
}

function plainVerdict(checked: Checked, entry: string): Verdict {
  const { result } = checked;
  if (!result.format) return malformed(checked, entry);
  if (result.signals.includes("typo_domain")) return misspelt(checked);
  if (result.disposable) return disposable(checked);
  if (result.signals.includes("dns_indeterminate")) return unknown();
  if (!result.dns) return unreachable(checked, entry);
  return good(checked);
}

/** What was meant has an "@" that the entry lacks. */
const isLostAt = (meant = "", entry: string): boolean =>
  meant.includes("@") && !entry.includes("@");

function malformed({ result, fault, meant }: Checked, entry: string): Verdict {
  const looksLikeBoth = /^[^@\s]+\.[^@\s]+$/.test(entry.trim());
  const lost = isLostAt(meant, entry);
  return {
    mark: "no",
    stamp: t("Bad format"),
    small: t("cannot be sent to"),
    sentence:
      isAddress(result) || lost || !looksLikeBoth
        ? t("This is not a valid address.")
        : t("This is not a valid domain."),
    reason: lost
      ? t("Perhaps the @ is missing.")
      : fault === undefined
        ? ""
        : `${capital(t(FAULT_WORDS[fault]))}.`,
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function misspelt({ result, meant }: Checked): Verdict {
  const { domain } = result;
  const isLost = !result.dns && !result.signals.includes("dns_indeterminate");
  const parts = [
    isLost
      ? t("{domain} has no mail server.", { domain })
      : result.dns
        ? t("{domain} accepts mail, but it may not be the address that was meant.", { domain })
        : t("DNS did not answer for {domain}.", { domain }),
    ...(meant === undefined
      ? []
      : [t("It is close to {meant}.", { meant: meant.slice(meant.lastIndexOf("@") + 1) })]),
    ...(result.disposable
      ? [t("It is also called disposable: {score} of 100.", { score: result.confidence })]
      : []),
  ];
  return {
    mark: "unsure",
    stamp: t("Misspelt"),
    small: isLost ? t("mail bounces") : t("check it"),
    sentence: isLost
      ? t("Mail to {domain} will bounce.", { domain })
      : t("{domain} is probably misspelt.", { domain }),
    reason: parts.join(" "),
  };
}

function disposable({ result, evidence }: Checked): Verdict {
  const strongest = [...evidence].sort((a, b) => b.weight - a.weight)[0];
  return {
    mark: "no",
    stamp: t("Disposable"),
    small: t("{score} of 100", { score: result.confidence }),
    sentence: isAddress(result)
      ? t("This address is disposable.")
      : t("This domain is disposable."),
    reason: strongest === undefined ? "" : disposableReason(strongest),
  };
}

function disposableReason(piece: EvidenceShape): string {
  const { lists, subject, signal } = piece;
  if (lists.length === 0 || subject === undefined || !ON_LISTS.has(signal)) return reasonOf(piece);
  const names = joined(lists.map(({ id }) => id));
  const listed = counted(
    lists.length,
    "{n} list of disposable domains",
    "{n} lists of disposable domains",
  );
  const since = listedSince(piece);
  return since === undefined
    ? t("{name} is on {listed}: {names}.", { name: subject, listed, names })
    : t("{name} is on {listed}: {names}, since {day}.", {
        name: subject,
        listed,
        names,
        day: since,
      });
}

const ON_LISTS: ReadonlySet<Signal> = new Set(["blacklist_exact", "blacklist_single"]);

function unknown(): Verdict {
  return {
    mark: "quiet",
    stamp: t("Could not tell"),
    small: t("try again"),
    sentence: t("DNS did not answer, so we cannot tell."),
    reason: t("This is not a “no”. Its name servers often answer a minute later: check again."),
  };
}

const UNREACHABLE = [
  "null_mx",
  "implicit_mx",
  "mx_unresolvable",
  "special_use_domain",
  "no_mx_records",
] as const;

function unreachable({ result, meant }: Checked, entry: string): Verdict {
  const known = UNREACHABLE.find((signal) => result.signals.includes(signal));
  const reason =
    known === undefined ? t("No mail server can be reached.") : t(SIGNALS[known].short);
  return {
    mark: "no",
    stamp: t("No mail server"),
    small: t("mail bounces"),
    sentence: isAddress(result)
      ? t("Mail to this address will bounce.")
      : t("Mail to this domain will bounce."),
    reason: isLostAt(meant, entry) ? `${reason} ${t("Perhaps the @ is missing.")}` : reason,
  };
}

function good({ result }: Checked): Verdict {
  return {
    mark: "yes",
    stamp: t("Looks good"),
    small: t("accepts mail"),
    sentence: t("This domain accepts mail."),
    reason: goodReason(result),
  };
}

function goodReason(result: Result): string {
  if (result.signals.includes("privacy_relay"))
    return t("It forwards to a real mailbox: a person is behind it.");
  if (result.whitelist) return t("The domain is known to be good.");
  if (result.confidence > 0)
    return t("There is a sign against it, but not enough to call it disposable.");
  return t("No sign of being disposable. Only a message can show whether this mailbox exists.");
}
