import type { Entrance, Gate, Receipt } from "../src/service/gate.ts";
import type { TierName } from "../src/service/tiers.ts";

export interface OpenGate extends Gate {
  /** Units charged and not refunded. */
  readonly charged: () => number;
}

/** An entrance as the real gate would give it to a caller of this tier. */
export function entranceOf(tier: TierName): Entrance {
  const owner = { kind: "bucket", bucket: "192.0.2.1" } as const;
  return { caller: { owner, tier, clientAddress: "192.0.2.1" } };
}

/** A gate that lets everyone in and counts what they take. */
export function openGate(tier: TierName = "anonymous"): OpenGate {
  let charged = 0;
  const receipt = (units: number): Receipt => ({
    paidBy: "plan",
    units,
    refund: () => void (charged -= units),
  });
  return {
    charged: () => charged,
    enter: () => ({ ...entranceOf(tier), rate: { limit: 1_000, remaining: 999 } }),
    charge: (_entrance, units) => {
      charged += units;
      return receipt(units);
    },
  };
}
