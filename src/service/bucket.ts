import { v6Groups } from "../core/reachable.ts";

/**
 * The eight groups of an address, an IPv4 one in its mapped form (RFC 4291 section 2.5.5.2), so that both
 * spellings are one. A zone (RFC 4007 section 11) is dropped. Undefined when the text is no address.
 */
export function addressGroups(text: string): readonly number[] | undefined {
  if (!text.includes(":")) return v6Groups(`::ffff:${text}`);
  const zone = text.indexOf("%");
  return v6Groups(zone < 0 ? text : text.slice(0, zone));
}

function dottedAddress(groups: readonly number[]): string | undefined {
  if (groups[5] !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

const hex = (groups: readonly number[]): string =>
  groups.map((group) => group.toString(16)).join(":");

export interface ClientBucket {
  /** One spelling for each address: dotted IPv4, or eight groups of lower-case hex. */
  readonly address: string;
  /** What anonymous limits count: the address itself, or the /64 of an IPv6 one. */
  readonly bucket: string;
}

/**
 * The anonymous bucket of a client address as the socket or `clientAddress` gives it. What is no address
 * shares one bucket, so that it meets limits too.
 */
export function bucketOf(clientAddress: string): ClientBucket {
  if (!clientAddress.includes(":")) {
    const address = clientAddress === "" ? "unknown" : clientAddress;
    return { address, bucket: address };
  }
  const groups = addressGroups(clientAddress);
  if (groups === undefined) return { address: "unknown", bucket: "unknown" };
  const dotted = dottedAddress(groups);
  if (dotted !== undefined) return { address: dotted, bucket: dotted };
  return { address: hex(groups), bucket: `${hex(groups.slice(0, 4))}::/64` };
}
