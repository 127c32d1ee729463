import type { TierName } from "./tiers.ts";
import type { PageTerms } from "./keys.ts";
import { type Owner, type OwnerKey, ownerKey } from "../../base/owner.ts";
import { bucketOf } from "./bucket.ts";
/** Who asks. */
export interface Caller {
  readonly owner: Owner;
  readonly tier: TierName;
  /** The exact client address, IPv4-mapped IPv6 written as IPv4. */
  readonly clientAddress: string;
  /** With a key: its id. */
  readonly keyId?: string;
  /** The key is a publishable one: it may decide only, from these origins. */
  readonly isPublishable?: true;
  readonly origins?: readonly string[];
  readonly page?: PageTerms;
  /** The account's, sealed: what its tokens are signed with. */
  readonly tokenSecret?: string;
  /** Nobody could say in time who asks. */
  readonly isUnidentified?: true;
  /** The account has its traffic counted: see `Account`. */
  readonly trafficSince?: number;
}

interface Stranger {
  readonly caller: Caller;
  readonly owner: OwnerKey;
}

/** Addresses whose reading is kept; a few MB. */
const ADDRESSES_MAX = 10_000;

/** The anonymous callers behind client addresses; reading an IPv6 address costs more than counting it. */
export class Strangers {
  readonly #known = new Map<string, Stranger>();

  at(clientAddress: string): Stranger {
    const known = this.#known.get(clientAddress);
    if (known !== undefined) return known;
    const { address, bucket } = bucketOf(clientAddress);
    const owner = { kind: "bucket", bucket } as const;
    const caller: Caller = { owner, tier: "anonymous", clientAddress: address };
    const made: Stranger = { caller, owner: ownerKey(owner) };
    if (this.#known.size >= ADDRESSES_MAX) this.#known.clear();
    this.#known.set(clientAddress, made);
    return made;
  }
}
