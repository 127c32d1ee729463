/** Whether an address can be a mail server's. What may be dialled is decided by the stricter guard of `outbound`. */
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

const UNREACHABLE_V4: readonly (readonly [number, number, number])[] = [
  [0, 0, 255], // unspecified, "this network" (RFC 1122)
  [10, 0, 255], // private (RFC 1918)
  [100, 64, 127], // shared (RFC 6598)
  [127, 0, 255], // loopback
  [169, 254, 254], // link-local (RFC 3927)
  [172, 16, 31], // private
  [192, 168, 168], // private
];

/** Default-ignorable and format characters, the blank Braille pattern, and code points without a character. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cn}\u2800]/u;

export const hasInvisible = (text: string): boolean => INVISIBLE.test(text);

export const withoutInvisible = (text: string): string => text.replace(ALL_INVISIBLE, "");

const ALL_INVISIBLE = new RegExp(INVISIBLE, "gu");

/** The four octets of a dotted address; undefined if it is not one. Plain loops: every mail host passes here. */
function v4Octets(address: string): readonly number[] | undefined {
  const octets: number[] = [];
  let octet = -1;
  for (let at = 0; at <= address.length; at += 1) {
    const code = at === address.length ? DOT : address.charCodeAt(at);
    if (code === DOT) {
      if (octet < 0) return undefined;
      octets.push(octet);
      octet = -1;
    } else {
      octet = Math.max(octet, 0) * 10 + (code >= 48 && code <= 57 ? code - 48 : Number.NaN);
      if (!(octet <= 255)) return undefined;
    }
  }
  return octets.length === 4 ? octets : undefined;
}

const DOT = 46;

/** The eight groups of a textual IPv6 address (RFC 4291 section 2.2); undefined if it is not one. */
export function v6Groups(address: string): readonly number[] | undefined {
  if (!address.includes(":")) return undefined; // as every mail host does
  const text = withoutDottedTail(address);
  const [left = "", right, ...rest] = text.split("::");
  if (rest.length > 0) return undefined;
  const head = left === "" ? [] : left.split(":");
  const tail = right === undefined || right === "" ? [] : right.split(":");
  const missing = 8 - head.length - tail.length;
  if (right === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array<string>(Math.max(missing, 0)).fill("0"), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return groups.map((group) => parseInt(group, 16));
}

/** "::ffff:192.0.2.1" with its last four octets as two groups. */
function withoutDottedTail(address: string): string {
  const cut = address.lastIndexOf(":") + 1;
  const dotted = address.slice(cut);
  if (!dotted.includes(".")) return address;
  const octets = v4Octets(dotted);
  if (octets === undefined) return "";
  const [a = 0, b = 0, c = 0, d = 0] = octets;
  return `${address.slice(0, cut)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** The IPv4 address inside an IPv4-mapped one (RFC 4291 section 2.5.5.2); undefined for any other. */
export function mappedV4(groups: readonly number[]): string | undefined {
  if (groups[5] !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return undefined;
  return dotted(groups[6] ?? 0, groups[7] ?? 0);
}

/** Some proxies add the port: "192.0.2.1:4711", "[2001:db8::1]:4711". */
export function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(text) ?? [];
  return bracketed ?? plain ?? text;
}

/** An IPv4 address as it is and by its /24, an IPv6 one by its /64 and /48, without a port. Undefined for what is none. */
export function countedAddress(
  given: string,
): { readonly host: string; readonly net: string } | undefined {
  const text = withoutPort(given);
  const groups = text.includes(":") ? v6Groups(text.split("%", 1)[0] ?? "") : undefined;
  const four = groups === undefined ? text : mappedV4(groups);
  const octets = four === undefined ? undefined : v4Octets(four);
  if (octets !== undefined) return { host: octets.join("."), net: octets.slice(0, 3).join(".") };
  if (groups === undefined) return undefined;
  const hex = groups.map((group) => group.toString(16));
  return { host: hex.slice(0, 4).join(":"), net: hex.slice(0, 3).join(":") };
}
