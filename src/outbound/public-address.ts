import { BlockList, isIP } from "node:net";
import { v6Groups } from "../core/name/ip-address.ts";

/** The family of a textual address as `node:net` reads it; 0 for anything else, zone ids included. */
const familyOf = (address: string): number => (address.includes("%") ? 0 : isIP(address));

/** Addresses and CIDR ranges. The families are apart, because a `BlockList` takes a mapped IPv6 address for IPv4. */
export class AddressRanges {
  readonly texts: readonly string[];
  readonly #v4 = new BlockList();
  readonly #v6 = new BlockList();

  /** Throws an `Error` that names every text that is neither. Bits behind a prefix are ignored. */
  constructor(texts: readonly string[]) {
    this.texts = texts;
    const wrong = texts.filter((text) => !this.#add(text));
    if (wrong.length > 0) throw new Error(`neither an address nor a CIDR: ${wrong.join(", ")}`);
  }

  has(address: string): boolean {
    const family = familyOf(address);
    if (family === 4) return this.#v4.check(address, "ipv4");
    return family === 6 && this.#v6.check(address, "ipv6");
  }

  #add(text: string): boolean {
    const [, address = "", prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const family = familyOf(address);
    const most = family === 4 ? 32 : 128;
    const bits = prefix === undefined ? most : Number(prefix);
    if (family === 0 || bits > most) return false;
    if (family === 4) this.#v4.addSubnet(address, bits, "ipv4");
    else this.#v6.addSubnet(address, bits, "ipv6");
    return true;
  }
}

/** Global unicast (RFC 4291 section 2.4). What embeds IPv4 (mapped, compatible, translated, NAT64) is outside it. */
const UNICAST = new AddressRanges(["0.0.0.0/0", "2000::/3"]);

/** IANA's special-purpose address registries (RFC 6890) as far as they are unicast, and IPv4 multicast (RFC 5771). */
const SPECIAL = new AddressRanges([
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
  "2001::/23", // IETF protocol assignments, Teredo 2001::/32 and ORCHID among them
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4, RFC 3056: the next four octets are IPv4
  "2620:4f:8000::/48", // AS112, RFC 7534
  "3fff::/20", // documentation, RFC 9637
]);

/** Whether the interface identifier is ISATAP's, which carries an IPv4 address (RFC 5214 section 6.1). */
function isIsatap(address: string): boolean {
  const [high = 0, low] = v6Groups(address)?.slice(4) ?? [];
  return (high & 0xfdff) === 0 && low === 0x5efe;
}

/**
 * Whether `address` is an ordinary unicast address of the public internet. False for everything in the
 * IANA special-purpose registries, for every IPv6 form that embeds an IPv4 address (even a public one: a
 * gateway, not the peer, would decide where it leads), and for what is no textual address.
 */
export const isPublicAddress = (address: string): boolean =>
  UNICAST.has(address) && !SPECIAL.has(address) && !isIsatap(address);
