import { type Owner, type OwnerKey, ownerKey } from "../../base/owner.ts";
import { mappedV4, v6Groups } from "../../core/name/ip-address.ts";
import type { AccountLimits } from "../accounts-store.ts";
import type { Keys, PageTerms, KeyHolder } from "../key-store.ts";
import { hashApiKey, isApiKey } from "../key-text.ts";
import type { TierName } from "./tiers.ts";
import type { Clock } from "../../base/clock.ts";
import { remembered } from "../../base/entries.ts";
import { StaleCache } from "../../base/stale-cache.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import type { Notices } from "../../store/notices.ts";

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

export const bucketKey = (clientAddress: string): OwnerKey => anonymousAt(clientAddress).owner;

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
  /** Nobody could say in time whose key it is. */
  readonly isUnidentified?: true;
  /** An unidentified caller sent what looks like a key. */
  readonly bringsKey?: true;
  readonly trafficSince?: number;
  readonly logsDecisions?: true;
}

/** The anonymous caller behind a client address; reading an IPv6 address costs more than counting it. */
export const anonymousAt = remembered(
  (clientAddress): { readonly caller: Caller; readonly owner: OwnerKey } => {
    const { address, bucket } = bucketOf(clientAddress);
    const owner = { kind: "bucket", bucket } as const;
    return { caller: { owner, tier: "anonymous", clientAddress: address }, owner: ownerKey(owner) };
  },
);

/** The keys that a request carries: each value as it was sent, and one entry for each repeated header. */
export interface Credentials {
  readonly apiKey: readonly string[];
  readonly authorization: readonly string[];
}

export interface KeyHoldersDeps {
  readonly keys: Pick<Keys, "holder">;
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
  /** Tells of changed accounts at once; without it a change counts when the kept account expires. */
  readonly notices?: Pick<Notices, "hear">;
}

/**
 * Finds the account behind a key; the key itself stays in memory only. Undefined for one that is malformed (refused without a
 * question), unknown or revoked.
 */
export function keyHolders({ keys, clock, notices }: KeyHoldersDeps) {
  const known = new StaleCache<KeyHolder>(clock);
  notices?.hear("accounts", () => known.expire());
  const ask = (key: string): Promise<KeyHolder | undefined> | undefined =>
    isApiKey(key) ? known.read(key, () => keys.holder(hashApiKey(key))) : undefined;
  return (key: string): Awaitable<KeyHolder | undefined> => known.fresh(key) ?? ask(key);
}

type Presented =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "invalid" };

const NONE: Presented = { kind: "none" };
const INVALID: Presented = { kind: "invalid" };

/** The scheme is a token of any case, blanks follow it (RFC 9110 section 11.4). */
const BEARER = /^bearer(?:[ \t]+|$)/i;

function agreed(values: readonly string[]): Presented {
  const [first = ""] = values;
  const key = first.trim();
  if (key === "") return INVALID;
  // The same key twice comes from a clumsy proxy; two different keys identify no caller.
  for (let at = 1; at < values.length; at += 1) if (values[at]?.trim() !== key) return INVALID;
  return { kind: "key", key };
}

/**
 * The key of a request. X-Api-Key, sent at all, wins over Authorization; of that only Bearer is ours, and
 * other schemes mean that there is no key.
 */
export function presentedKey({ apiKey, authorization }: Credentials): Presented {
  if (apiKey.length > 0) return agreed(apiKey);
  if (authorization.length === 0) return NONE;
  const bearers = authorization.map((value) => value.trim()).filter((value) => BEARER.test(value));
  if (bearers.length === 0) return NONE;
  return agreed(bearers.map((value) => value.replace(BEARER, "")));
}
