import type { Caller } from "../src/service/caller.ts";
import type { Entrance, Gate } from "../src/service/gate.ts";
import { DEFAULT_TIERS, type TierName } from "../src/service/tiers.ts";

/** A gate that lets everyone in, as a caller of the given tier from the address that asks. */
export function openGate(tier: TierName = "anonymous"): Gate {
  const limit = DEFAULT_TIERS[tier].ratePerMinute ?? 0;
  const rate = { limit, remaining: limit };
  return {
    enter: (_credentials, clientAddress): Entrance => ({
      caller: callerAt(clientAddress, tier),
      rate,
      hasCredits: false,
    }),
    enterAs: (account, clientAddress): Entrance => ({
      caller: {
        ...callerAt(clientAddress, tier),
        owner: { kind: "account", accountId: account.id },
      },
      rate,
      hasCredits: false,
    }),
    charge: (_entrance, units) => ({ paidBy: "plan", units, refund: () => undefined }),
    terms: ({ caller }, units) => ({
      owner: caller.owner,
      units,
      limits: DEFAULT_TIERS[caller.tier],
      purses: "plan",
      nowMs: 0,
    }),
    receipt: (_entrance, { kind }) => {
      if (kind === "unpaid") throw new Error("the open gate refuses nobody");
      return { paidBy: "plan", units: 1, refund: () => undefined };
    },
  };
}

/** Whoever asks from this address without a key. */
export function callerAt(clientAddress: string, tier: TierName = "anonymous"): Caller {
  return { owner: { kind: "bucket", bucket: clientAddress }, tier, clientAddress };
}
