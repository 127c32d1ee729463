import type { Owner } from "../../ports/admission/owner.ts";
import type { TierName } from "./tiers.ts";

/** Who asks. */
export interface Caller {
  readonly owner: Owner;
  readonly tier: TierName;
  /** The exact client address, IPv4-mapped IPv6 written as IPv4. */
  readonly clientAddress: string;
  /** With a key: its id. */
  readonly keyId?: string;
  /** The account has spellings in its own traffic counted. */
  readonly countsSpellings?: true;
}
