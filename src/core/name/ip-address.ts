/**
 * Invisible characters: Unicode's default-ignorable and format characters (zero-width, soft hyphen, variation
 * selectors, fillers), the blank Braille pattern, and code points without a character.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cn}\u2800]/u;

/** Whether `text` has a character by which two entries can differ and look the same. */
export const hasInvisible = (text: string): boolean => INVISIBLE.test(text);

/** `text` without them. */
export const withoutInvisible = (text: string): string => text.replace(ALL_INVISIBLE, "");

const ALL_INVISIBLE = new RegExp(INVISIBLE, "gu");

/** The four octets of a dotted address; undefined if it is not one. Plain loops: every mail host passes here. */
export function v4Octets(address: string): readonly number[] | undefined {
  const octets: number[] = [];
  let octet = -1;
  for (let at = 0; at <= address.length; at += 1) {
    const code = at === address.length ? DOT : address.charCodeAt(at);
    if (code === DOT) {
      if (octet < 0) return undefined;
      octets.push(octet);
      octet = -1;
    } else {
      octet = Math.max(octet, 0) * 10 + digit(code);
      if (!(octet <= 255)) return undefined;
    }
  }
  return octets.length === 4 ? octets : undefined;
}

const DOT = 46;

/** The value of an ASCII digit; NaN for anything else. */
const digit = (code: number): number => (code >= 48 && code <= 57 ? code - 48 : Number.NaN);

/** The eight groups of a textual IPv6 address (RFC 4291 section 2.2); undefined if it is not one. */
export function v6Groups(address: string): readonly number[] | undefined {
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
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
