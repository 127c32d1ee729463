/** The request target: what stands between the method and the HTTP version (RFC 9112 section 3.2). */

export interface RequestTarget {
  /** Raw, from the first "/" to "?", nothing decoded. */
  readonly path: string;
  /** Raw, behind the "?"; "" when there is none. */
  readonly query: string;
}

/** Takes the target apart. The absolute form, which clients send to proxies, names the same resource. */
export function readTarget(raw: string): RequestTarget {
  const target = raw.startsWith("/") ? raw : withoutOrigin(raw);
  const cut = target.indexOf("?");
  if (cut < 0) return { path: target, query: "" };
  return { path: target.slice(0, cut), query: target.slice(cut + 1) };
}

/** "http://host/path" is "/path", "http://host" is "/"; the asterisk form stays as it is. */
function withoutOrigin(raw: string): string {
  const origin = /^https?:\/\/[^/?#]*/i.exec(raw)?.[0];
  if (origin === undefined) return raw;
  const rest = raw.slice(origin.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** The path of the public URL without a last "/"; "" for none. */
export const basePathOf = (publicUrl: string): string =>
  new URL(publicUrl).pathname.replace(/\/+$/, "");

export const isApiPath = (path: string): boolean =>
  isBelow("/api", path) || isBelow("/compat", path);

const isBelow = (start: string, path: string): boolean =>
  path.startsWith(start) && (path.length === start.length || path.charCodeAt(start.length) === 47);

/** Never throws: a stray "%" stays, invalid UTF-8 becomes U+FFFD, "+" stays. Linear, also on megabytes of nonsense. */
export function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  return STRANGE.test(text) ? decodeOctets(Buffer.from(text, "utf8")) : decodeURIComponent(text);
}

/**
 * One path segment decoded. A "%" that escapes nothing makes the target malformed, so it becomes U+FFFD like
 * invalid UTF-8: no address or domain holds that, and the entry is answered `format: false`.
 */
export function decodeSegment(text: string): string {
  return decodePercent(text.replace(STRAY, "\ufffd"));
}

const STRAY = /%(?![0-9a-f]{2})/gi;

/**
 * An escape of other characters than printable ASCII: `decodeURIComponent` may throw on it, which costs fifty times
 * what decoding does, and one path can have thousands of segments.
 */
const STRANGE = /%(?![2-7][0-9a-f])/i;

const PERCENT = 37;

/** In place: what is decoded is never longer than what it came from. */
function decodeOctets(octets: Buffer): string {
  let end = 0;
  for (let at = 0; at < octets.length; at += 1) {
    const octet = octets[at] ?? 0;
    const decoded = octet === PERCENT ? hexPair(octets[at + 1], octets[at + 2]) : -1;
    octets[end] = decoded < 0 ? octet : decoded;
    if (decoded >= 0) at += 2;
    end += 1;
  }
  return octets.toString("utf8", 0, end);
}

export function hexPair(high: number | undefined, low: number | undefined): number {
  const left = hexDigit(high ?? 0);
  const right = hexDigit(low ?? 0);
  return left < 0 || right < 0 ? -1 : left * 16 + right;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
