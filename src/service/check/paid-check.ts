import type { Awaitable } from "../../core/mail/lookup.ts";
import type { EntryMode } from "../../core/address/entry.ts";
import type { Evidence } from "../../core/evidence/signals.ts";
import { when } from "../../core/when.ts";
import type { Admission, Entrance, Receipt } from "../admission/admission.ts";
import { type OwnEvidence, ownEvidenceFor } from "../evidence/own-spellings.ts";

/** One entry to check; costs one unit. */
export interface PaidEntry {
  readonly text: string;
  readonly mode: EntryMode;
}

export interface PaidCheckDeps {
  readonly admission: Pick<Admission, "charge">;
  /** Absent: no account has its traffic counted. */
  readonly ownEvidence?: OwnEvidence;
}

export interface PaidCheck {
  readonly receipt: Receipt;
  /** Evidence about the entry from the caller's own traffic. */
  readonly ownEvidence: readonly Evidence[];
}

/** Takes one unit for one entry. Throws the quota `Refusal`. */
export function payForCheck(
  entrance: Entrance,
  { text, mode }: PaidEntry,
  deps: PaidCheckDeps,
): Awaitable<PaidCheck> {
  return when(deps.admission.charge(entrance, 1), (receipt) => {
    const counted = mode === "domain" ? NONE : [text];
    const own = ownEvidenceFor(entrance.caller, counted, deps.ownEvidence);
    return when(own, (of) => ({ receipt, ownEvidence: of(text) }));
  });
}

const NONE: readonly string[] = [];

/** Does the work that was paid for; a fault gives the unit back. */
export async function orRefund<T>(receipt: Receipt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (fault) {
    await receipt.refund();
    throw fault;
  }
}
