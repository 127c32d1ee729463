import { mappedV4, v6Groups } from "../../core/name/ip-address.ts";
import { type OwnerKey, ownerKey } from "../../base/owner.ts";

const hex = (groups: readonly number[]): string =>
  groups.map((group) => group.toString(16)).join(":");

export interface ClientBucket {
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

/** The owner that an address without a key is. */
export const bucketKey = (clientAddress: string): OwnerKey =>
  ownerKey({ kind: "bucket", bucket: bucketOf(clientAddress).bucket });
