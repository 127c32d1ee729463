/** The request target: what stands between the method and the HTTP version (RFC 9112 section 3.2). */

/** Longest target that is served, in characters; a raw target is ASCII, so these are octets. */
export const TARGET_MAX_CHARACTERS = 65_536;

export interface Target {
  /** Raw, from the first "/" to "?", nothing decoded. */
  readonly path: string;
  /** Raw, behind the "?"; "" when there is none. */
  readonly query: string;
}

/** Takes the target apart. The absolute form, which clients send to proxies, names the same resource. */
export function readTarget(raw: string): Target {
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

/** Whether the path belongs to the API, which has its own dispatch, CORS and errors. */
export function isApiPath(path: string): boolean {
  return path.startsWith("/api") && (path.length === 4 || path.charCodeAt(4) === 47);
}

/**
 * Percent-decoding that never throws: a stray "%" stays, octets that are no UTF-8 become U+FFFD, and "+"
 * stays "+".
 */
export function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, decodeRun);
  }
}

const decodeRun = (run: string): string =>
  Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8");
