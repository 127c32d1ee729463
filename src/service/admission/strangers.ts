import { type OwnerKey, ownerKey } from "../../ports/admission/owner.ts";
import { bucketOf } from "./bucket.ts";
import type { Caller } from "./caller.ts";

export interface Stranger {
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
