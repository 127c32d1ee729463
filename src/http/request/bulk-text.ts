import { decodePercent, hexPair } from "./target.ts";

/**
 * The text of a bulk list out of its raw form value. Clients write "+" for a plus sign and for a blank
 * the same way, so each one is read by its place in its token:
 *
 * - before a raw "@" it is a plus sign: nothing was encoded here;
 * - before a "%40", after the at sign, and in a token without one, it is a blank: an encoder was at work,
 *   or no address can hold it.
 *
 * "%2B" is always a plus sign and "%20" always a blank. A token ends at a comma or white space, raw or
 * encoded, and at a "+" that is a blank. Linear: every octet is looked at twice at most.
 */
export function bulkText(raw: string): string {
  return decodePercent(raw.includes("+") ? blankPluses(Buffer.from(raw, "utf8")) : raw);
}

const PLUS = 43;
const PERCENT = 37;
const AT = 64;
const BLANK = 32;

/** Works in place: all marks are ASCII, which no octet of a longer UTF-8 sequence is. */
function blankPluses(octets: Buffer): string {
  let start = 0;
  while (start < octets.length) {
    const end = endOfLocalPart(octets, start);
    if (octets[end] !== AT) blankRange(octets, start, end);
    start = isAt(octets, end) ? endOfDomain(octets, end + 1) : end + 1;
  }
  return octets.toString("utf8");
}

/** The first at sign or separator, raw or encoded; the length when there is none. */
function endOfLocalPart(octets: Buffer, start: number): number {
  let at = start;
  while (at < octets.length && !isAt(octets, at) && !isSeparator(octets, at)) at += 1;
  return at;
}

/** Just behind the separator or the "+" that ends the domain; further at signs belong to it. */
function endOfDomain(octets: Buffer, start: number): number {
  let at = start;
  while (at < octets.length && octets[at] !== PLUS && !isSeparator(octets, at)) at += 1;
  if (octets[at] === PLUS) octets[at] = BLANK;
  return at + 1;
}

function blankRange(octets: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at += 1) if (octets[at] === PLUS) octets[at] = BLANK;
}

const isAt = (octets: Buffer, at: number): boolean => meant(octets, at) === AT;

/** A comma, blank, tab, CR or LF. */
function isSeparator(octets: Buffer, at: number): boolean {
  const octet = meant(octets, at);
  return octet === 44 || octet === BLANK || octet === 9 || octet === 10 || octet === 13;
}

/** The octet itself, or the one that an escape starting here stands for; -1 for a stray "%". */
function meant(octets: Buffer, at: number): number {
  const octet = octets[at] ?? -1;
  return octet === PERCENT ? hexPair(octets[at + 1], octets[at + 2]) : octet;
}
