import { hexPair } from "../target.ts";

/** Whether a Content-Type declares ISO-8859-1, as Apache's HttpClient 4 does for every form unless told otherwise. */
export const isLatin1 = (contentType: string): boolean =>
  /;\s*charset\s*=\s*"?(?:iso-8859-1|latin1)"?\s*(?:;|$)/i.test(contentType);

/**
 * A form in ISO-8859-1 as one in UTF-8: octets above 127, raw or escaped, become the raw octets of the same
 * character; all delimiters of a form are ASCII. Linear, and at most twice as long.
 */
export function utf8Form(octets: Buffer): string {
  const out = Buffer.allocUnsafe(2 * octets.length);
  let end = 0;
  for (let at = 0; at < octets.length; at += 1) {
    const octet = octets[at] ?? 0;
    const escaped = octet === PERCENT ? hexPair(octets[at + 1], octets[at + 2]) : -1;
    if (escaped >= 128) at += 2;
    const meant = escaped >= 128 ? escaped : octet;
    if (meant >= 128) out[end++] = 0xc0 | (meant >> 6);
    out[end++] = meant >= 128 ? 0x80 | (meant & 63) : meant;
  }
  return out.toString("utf8", 0, end);
}

const PERCENT = 37;
