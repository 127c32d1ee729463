import { isIP } from "node:net";
import { v6Groups } from "../core/name/ip-address.ts";

/** The octets of an address, 4 or 16, and how many of their leading bits count. */
export interface AddressRange {
  readonly octets: readonly number[];
  readonly prefixBits: number;
}

/** The octets of a textual address as `node:net` reads it; undefined for anything else, zone ids included. */
function octetsOf(address: string): readonly number[] | undefined {
  if (address.includes("%")) return undefined;
  const family = isIP(address);
  if (family === 4) return address.split(".").map(Number);
  if (family !== 6) return undefined;
  return v6Groups(address)?.flatMap((group) => [group >> 8, group & 0xff]);
}

/** One address or CIDR; undefined when it is neither. Bits behind the prefix are ignored. */
export function parseRange(text: string): AddressRange | undefined {
  const [address = "", prefix, ...rest] = text.split("/");
  const octets = octetsOf(address);
  if (octets === undefined || rest.length > 0) return undefined;
  const most = octets.length * 8;
  if (prefix === undefined) return { octets, prefixBits: most };
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > most) return undefined;
  return { octets, prefixBits: Number(prefix) };
}

export type ParsedRanges =
  | { readonly ok: true; readonly ranges: readonly AddressRange[] }
  | { readonly ok: false; readonly wrong: readonly string[] };

export function parseRanges(texts: readonly string[]): ParsedRanges {
  const wrong = texts.filter((text) => parseRange(text) === undefined);
  if (wrong.length > 0) return { ok: false, wrong };
  return { ok: true, ranges: texts.flatMap((text) => parseRange(text) ?? []) };
}

function covers({ octets, prefixBits }: AddressRange, address: readonly number[]): boolean {
  if (octets.length !== address.length) return false;
  const whole = prefixBits >> 3;
  for (let at = 0; at < whole; at += 1) if (octets[at] !== address[at]) return false;
  const rest = 8 - (prefixBits & 7);
  return rest === 8 || (octets[whole] ?? 0) >> rest === (address[whole] ?? 0) >> rest;
}

const ranges = (...texts: readonly string[]): readonly AddressRange[] =>
  texts.flatMap((text) => parseRange(text) ?? []);

/** IANA IPv4 Special-Purpose Address Registry (RFC 6890), whole, and multicast (RFC 5771). */
const SPECIAL_V4 = ranges(
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private
  "100.64.0.0/10", // shared, RFC 6598
  "127.0.0.0/8", // loopback
  "168.63.129.16/32", // Azure's platform: a public address that leads inside
  "169.254.0.0/16", // link-local and cloud metadata
  "172.16.0.0/12", // private
  "192.0.0.0/24", // IETF protocol assignments
  "192.0.2.0/24", // TEST-NET-1
  "192.31.196.0/24", // AS112-v4, RFC 7535
  "192.52.193.0/24", // AMT, RFC 7450
  "192.88.99.0/24", // 6to4 relays, RFC 7526
  "192.168.0.0/16", // private
  "192.175.48.0/24", // AS112, RFC 7534
  "198.18.0.0/15", // benchmarking, RFC 2544
  "198.51.100.0/24", // TEST-NET-2
  "203.0.113.0/24", // TEST-NET-3
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and the limited broadcast
);

/** Global unicast (RFC 4291 section 2.4). What embeds IPv4 (mapped, compatible, translated, NAT64) is outside it. */
const GLOBAL_UNICAST: AddressRange = {
  octets: [0x20, ...Array<number>(15).fill(0)],
  prefixBits: 3,
};

const SPECIAL_V6 = ranges(
  "2001::/23", // IETF protocol assignments, Teredo 2001::/32 and ORCHID among them
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4, RFC 3056: the next four octets are IPv4
  "2620:4f:8000::/48", // AS112, RFC 7534
  "3fff::/20", // documentation, RFC 9637
);

/** Whether the interface identifier is ISATAP's, which carries an IPv4 address (RFC 5214 section 6.1). */
function isIsatap(address: readonly number[]): boolean {
  const [first = 1, ...rest] = address.slice(8, 12);
  return (first & 0xfd) === 0 && rest.join(".") === "0.94.254";
}

/**
 * Whether `address` is an ordinary unicast address of the public internet. False for everything in the
 * IANA special-purpose registries, for every IPv6 form that embeds an IPv4 address (even a public one: a
 * gateway, not the peer, would decide where it leads), and for what is no textual address.
 */
export function isPublicAddress(address: string): boolean {
  const octets = octetsOf(address);
  if (octets === undefined) return false;
  if (octets.length === 4) return !SPECIAL_V4.some((range) => covers(range, octets));
  if (!covers(GLOBAL_UNICAST, octets) || isIsatap(octets)) return false;
  return !SPECIAL_V6.some((range) => covers(range, octets));
}

/** Whether the operator allows `address` although it is not public; families are never mixed. */
export function isAllowed(address: string, allowed: readonly AddressRange[]): boolean {
  const octets = octetsOf(address);
  return octets !== undefined && allowed.some((range) => covers(range, octets));
}
