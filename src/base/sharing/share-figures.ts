import type { OwnerKey } from "../owner.ts";
import type { WhyNoRoom } from "./hold.ts";
import type { ResourceName } from "./resources.ts";

/** What an operator sees of one resource. */
export interface ShareFigures {
  readonly total: number;
  readonly used: number;
  readonly waiting: number;
  /** Owners that hold something or wait. */
  readonly owners: number;
  /** The most that one owner held since the last reading. */
  readonly largest: number;
  readonly refused: Readonly<Record<WhyNoRoom, number>>;
  /** Holds that were taken away for an owner with less. */
  readonly reclaimed: number;
}

/** Called whenever an owner is refused, loses a hold or fills half of its queue. */
export type HeldBack = (held: {
  readonly resource: ResourceName;
  readonly owner: OwnerKey;
  readonly used: number;
  readonly waiting: number;
}) => void;
