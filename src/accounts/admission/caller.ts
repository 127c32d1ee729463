import { type Owner, type OwnerKey, ownerKey } from "../../base/owner.ts";
import { mappedV4, v6Groups } from "../../core/name/ip-address.ts";
import type { AccountLimits, Accounts } from "../accounts-store.ts";
import type { Keys, PageTerms } from "../keys.ts";
import type { TierName } from "./tiers.ts";

const hex = (groups: readonly number[]): string =>
  groups.map((group) => group.toString(16)).join(":");

interface ClientBucket {
  /** One spelling for each address: dotted IPv4, or eight groups of lower-case hex. */
  readonly address: string;
  /** What anonymous limits count: the address itself, or the /64 of an IPv6 one. */
  readonly bucket: string;
}

/**
 * The anonymous bucket of a client address as the socket or `clientAddress` gives it. An invalid address
 * shares one bucket, so that it meets limits too.
 */
export function bucketOf(clientAddress: string): ClientBucket {
  if (!clientAddress.includes(":")) {
    const address = clientAddress === "" ? "unknown" : clientAddress;
    return { address, bucket: address };
  }
  const groups = v6Groups(clientAddress.split("%", 1)[0] ?? ""); // a zone (RFC 4007 section 11) is dropped
  if (groups === undefined) return { address: "unknown", bucket: "unknown" };
  const dotted = mappedV4(groups);
  if (dotted !== undefined) return { address: dotted, bucket: dotted };
  return { address: hex(groups), bucket: `${hex(groups.slice(0, 4))}::/64` };
}

export const bucketKey = (clientAddress: string): OwnerKey =>
  ownerKey({ kind: "bucket", bucket: bucketOf(clientAddress).bucket });

export interface Caller {
  readonly owner: Owner;
  readonly tier: TierName;
  readonly limits?: AccountLimits;
  /** The exact client address, IPv4-mapped IPv6 written as IPv4. */
  readonly clientAddress: string;
  readonly keyId?: string;
  /** The key is a publishable one: it may decide only, from these origins. */
  readonly isPublishable?: true;
  readonly origins?: readonly string[];
  readonly page?: PageTerms;
  /** The account's, sealed: what its tokens are signed with. */
  readonly tokenSecret?: string;
  readonly isUnidentified?: true;
  readonly trafficSince?: number;
  readonly logsDecisions?: true;
}

interface AnonymousCaller {
  readonly caller: Caller;
  readonly owner: OwnerKey;
}

const ADDRESSES_MAX = 10_000;

/** The anonymous callers behind client addresses; reading an IPv6 address costs more than counting it. */
export class AnonymousCallers {
  readonly #known = new Map<string, AnonymousCaller>();

  at(clientAddress: string): AnonymousCaller {
    const known = this.#known.get(clientAddress);
    if (known !== undefined) return known;
    const { address, bucket } = bucketOf(clientAddress);
    const owner = { kind: "bucket", bucket } as const;
    const caller: Caller = { owner, tier: "anonymous", clientAddress: address };
    const made: AnonymousCaller = { caller, owner: ownerKey(owner) };
    if (this.#known.size >= ADDRESSES_MAX) this.#known.clear();
    this.#known.set(clientAddress, made);
    return made;
  }
}

interface CallerInForceDeps {
  readonly keys: Pick<Keys, "list">;
  readonly accounts: Pick<Accounts, "find">;
}

/** Whether an earlier caller would still be admitted: the key is active, the account not disabled. */
export type CallerInForce = (caller: Caller) => Promise<boolean>;

export function callerInForce({ keys, accounts }: CallerInForceDeps): CallerInForce {
  return async ({ owner, keyId }) => {
    if (owner.kind !== "account") return true;
    const [account, all] = await Promise.all([
      accounts.find(owner.accountId),
      keys.list(owner.accountId),
    ]);
    const isHeld = all.some(({ id, revoked_at_ms: atMs }) => id === keyId && atMs === null);
    return isHeld && account?.isDisabled === false;
  };
}
