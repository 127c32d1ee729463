import { mappedV4, v4Octets, v6Groups } from "./ip-address.ts";

/**
 * Whether an address from DNS can be a mail server's on the public internet: not unspecified, loopback,
 * private (RFC 1918, RFC 4193), link-local or shared (RFC 6598). Documentation ranges count as reachable:
 * they do no harm and tests use them. This checks a record; what may be *dialled* is
 * decided by the stricter guard of the outbound adapter.
 */
export function isReachable(address: string): boolean {
  if (!address.includes(":")) return isReachableV4(address);
  const groups = v6Groups(address);
  if (groups === undefined) return false;
  const mapped = mappedV4(groups);
  if (mapped !== undefined) return isReachableV4(mapped);
  const embedded = translatedV4(groups);
  if (embedded !== undefined) return isReachableV4(embedded);
  const first = groups[0] ?? 0;
  const zeros = groups.slice(0, 7).every((group) => group === 0);
  if (zeros && (groups[7] ?? 0) <= 1) return false; // :: and ::1
  return (first & 0xfe00) !== 0xfc00 && (first & 0xffc0) !== 0xfe80;
}

/** The IPv4 address behind NAT64 (RFC 6052 section 2.1) or 6to4 (RFC 3056 section 2). */
function translatedV4(groups: readonly number[]): string | undefined {
  const [first, second, third = 0] = groups;
  const isNat64 = first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((g) => g === 0);
  if (isNat64) return dotted(groups[6] ?? 0, groups[7] ?? 0);
  return first === 0x2002 ? dotted(second ?? 0, third) : undefined;
}

const dotted = (high: number, low: number): string =>
  [high >> 8, high & 255, low >> 8, low & 255].join(".");

function isReachableV4(address: string): boolean {
  const octets = v4Octets(address);
  if (octets === undefined) return false;
  const [first = 0, second = 0] = octets;
  for (const [octet, low, high] of UNREACHABLE_V4) {
    if (first === octet && second >= low && second <= high) return false;
  }
  return true;
}

/** First octet, and the range of the second. */
const UNREACHABLE_V4: readonly (readonly [number, number, number])[] = [
  [0, 0, 255], // unspecified, "this network" (RFC 1122)
  [10, 0, 255], // private (RFC 1918)
  [100, 64, 127], // shared (RFC 6598)
  [127, 0, 255], // loopback
  [169, 254, 254], // link-local (RFC 3927)
  [172, 16, 31], // private
  [192, 168, 168], // private
];
