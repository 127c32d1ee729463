import type { Caller } from "../../src/accounts/admission/caller.ts";
import type { Admitted, Admission, Receipt } from "../../src/accounts/admission/admission.ts";
import { DEFAULT_TIERS, type TierName } from "../../src/accounts/admission/tiers.ts";

export interface OpenGate extends Admission {
  /** Units charged and not refunded. */
  readonly charged: () => number;
}

/** The caller at this address without a key. */
export function callerAt(clientAddress: string, tier: TierName = "anonymous"): Caller {
  return { owner: { kind: "bucket", bucket: clientAddress }, tier, clientAddress };
}

/** What the real admission gives a caller of this tier. */
export function admittedAs(tier: TierName, clientAddress = "192.0.2.1"): Admitted {
  return { caller: callerAt(clientAddress, tier), hasCredits: false };
}

/** An admission that accepts every caller, with the given tier, and counts units. */
export function openAdmission(tier: TierName = "anonymous"): OpenGate {
  const limits = DEFAULT_TIERS[tier];
  const perMinute = limits.ratePerMinute ?? 0;
  const rate = { limit: perMinute, remaining: perMinute };
  let charged = 0;
  const receipt = (units: number): Receipt => {
    charged += units;
    return { paidBy: "plan", units, refund: () => void (charged -= units) };
  };
  return {
    charged: () => charged,
    countsAhead: false,
    enter: (_credentials, clientAddress) => ({ ...admittedAs(tier, clientAddress), rate }),
    unidentified: (_credentials, clientAddress) => ({
      caller: { ...callerAt(clientAddress), isUnidentified: true },
      hasCredits: false,
    }),
    enterAs: ({ id }, clientAddress, keyId) => ({
      caller: {
        ...callerAt(clientAddress, tier),
        owner: { kind: "account", accountId: id },
        ...(keyId !== undefined && { keyId }),
      },
      rate,
      hasCredits: false,
    }),
    uncharged: (admitted) => admitted,
    spend: () => undefined,
    charge: (_entrance, units) => receipt(units),
    terms: ({ caller }, units) => ({
      owner: caller.owner,
      units,
      limits,
      purses: "plan",
      nowMs: 0,
    }),
    receipt: (_entrance, answer) => {
      if (answer.kind === "unpaid") throw new Error("an open admission never refuses payment");
      return receipt(answer.units);
    },
  };
}
