import { meantBy } from "../core/validate/malformed.ts";
import type { Caller } from "../accounts/admission/caller.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import { present } from "../check/check-one.ts";
import { sortFeatures } from "../check/features.ts";
import type { BudgetedValidation } from "../check/single-check.ts";
import type { MailboxSight } from "./own-spellings.ts";
import type { PoliciesInForce } from "./in-force.ts";
import type { MailboxId } from "./mailbox-id.ts";
import type { Ruling } from "./rule-entry.ts";

export interface BodyDeps {
  readonly tiers: Tiers;
  readonly mailboxId: MailboxId;
  readonly publicUrl: () => string;
}

/** Who asks for what. */
interface Asking {
  readonly caller: Caller;
  readonly policies: PoliciesInForce;
}

export interface Answered {
  readonly asking: Asking;
  readonly token: string | undefined;
  readonly validation: BudgetedValidation;
  readonly ruling: Ruling;
  readonly sight: MailboxSight;
}

/** Keys in the order of the contract. A publishable key gets no result and no mailbox. */
export function bodyOf(answered: Answered, deps: BodyDeps): string {
  const { asking, validation, ruling, sight, token } = answered;
  const { caller, policies } = asking;
  const { decision, reason } = ruling.outcome;
  const isPublic = caller.isPublishable === true;
  const head = JSON.stringify({
    decision,
    reason,
    message: ruling.message,
    did_you_mean: meantBy(validation),
    complete: validation.isComplete,
    policy: { name: policies.name, version: policies.live.version },
    mailbox: isPublic ? undefined : mailboxOf(asking, validation, { sight, deps }),
  });
  const result = isPublic ? "" : `,"result":${resultOf(caller, validation, deps)}`;
  const last = token === undefined ? "" : `,"token":${JSON.stringify(token)}`;
  return `${head.slice(0, -1)}${result}${last}}`;
}

function mailboxOf(
  { caller }: Asking,
  { entry }: BudgetedValidation,
  { sight, deps }: { readonly sight: MailboxSight; readonly deps: BodyDeps },
): { readonly id: string; readonly seen?: number } | undefined {
  if (caller.owner.kind !== "account" || entry.kind !== "address") return undefined;
  const id = deps.mailboxId(caller.owner.accountId, entry.address);
  return { id, ...(sight.seen !== undefined && { seen: sight.seen }) };
}

function resultOf({ tier }: Caller, validation: BudgetedValidation, deps: BodyDeps): string {
  const sorted = sortFeatures([], { premium: deps.tiers[tier].premium });
  return present(validation, sorted, deps.publicUrl());
}
