import { mailboxUser, subAddress } from "../address/address.ts";
import { canonicalAddress } from "../evidence/alias.ts";
import type { Datasets } from "../evidence/datasets.ts";
import { HONEYPOT_LOCAL_PARTS } from "../tables/data.ts";
import { typoTarget } from "../evidence/names/typo.ts";
import { type Described, orNull, Type } from "../json-schema.ts";
import {
  type Advised,
  type FieldsOf,
  NOT_NOW,
  type PremiumPart,
  type CheckedSubject,
  type AdviceWords,
} from "./check.ts";

const SpamTrap = Type.Object(
  {
    is_trap: Type.Boolean({ description: "False does not prove that an address is safe." }),
    type: orNull(
      Type.Enum(["typo", "honeypot", "listed", "recycled", "pristine"]),
      "Which kind of trap; null when it is none.",
    ),
    reason: orNull(Type.String(), "Null when it is not a trap."),
  },
  { description: "Added by itself where the plan includes it." },
);
export type SpamTrap = Described<typeof SpamTrap>;

const FIELDS = { spam_trap: SpamTrap };

const NO_TRAP: SpamTrap = { is_trap: false, type: null, reason: null };

/** The operator's trap file first, then, unless allowed, names of traps and misspelt providers. "No trap" proves nothing. */
export function checkSpamTrap(subject: CheckedSubject, datasets: Datasets): SpamTrap {
  const listed = fromOperator(subject, datasets);
  if (listed !== undefined) return listed;
  if (isAllowed(subject, datasets)) return NO_TRAP;
  return honeypot(subject) ?? typo(subject, datasets) ?? NO_TRAP;
}

function fromOperator(
  { address, domain }: CheckedSubject,
  { operator }: Datasets,
): SpamTrap | undefined {
  const ofAddress = address && operator.trap(canonicalAddress(address));
  const type = ofAddress ?? operator.trap(domain.name);
  if (type === undefined) return undefined;
  const what = ofAddress === undefined ? "domain" : "address";
  return trap(type, `The operator's list names this ${what} as ${type}.`);
}

function isAllowed({ address, domain }: CheckedSubject, { operator }: Datasets): boolean {
  if (operator.domain(domain.name) === "allow") return true;
  return address !== undefined && operator.address(canonicalAddress(address)) === "allow";
}

/** The local part alone counts: with a detail behind "+" it is still that mailbox (RFC 5233). */
function honeypot({ address }: CheckedSubject): SpamTrap | undefined {
  if (address === undefined) return undefined;
  const { user } = subAddress(mailboxUser(address));
  if (!HONEYPOT_LOCAL_PARTS.has(user)) return undefined;
  return trap("honeypot", `Mailboxes named "${user}" are set up to catch senders of spam.`);
}

function typo({ domain }: CheckedSubject, datasets: Datasets): SpamTrap | undefined {
  const meant = typoTarget(domain.name, datasets);
  if (meant === undefined) return undefined;
  return trap("typo", `The domain looks like a misspelling of ${meant}.`);
}

function trap(type: NonNullable<SpamTrap["type"]>, reason: string): SpamTrap {
  return { is_trap: true, type, reason };
}

function advise({ spam_trap: found }: Advised & FieldsOf<typeof FIELDS>): AdviceWords {
  if (found === undefined) return NOT_NOW;
  const { is_trap: isTrap, reason } = found;
  if (!isTrap) {
    return {
      state: "good",
      says: "No sign of a spam trap. Traps are secret, so this proves nothing.",
      figure: "none known",
    };
  }
  return {
    state: "bad",
    says: `This looks like a spam trap. ${reason ?? ""}`.trim(),
    fix: "Do not send to it, and look where it came from: such entries come from bought, old or mistyped lists.",
    figure: "trap",
  };
}

export const spamTrap: PremiumPart<"spam_trap", typeof FIELDS> = {
  name: "spam_trap",
  title: "Spam trap",
  fields: FIELDS,
  advise,
};
