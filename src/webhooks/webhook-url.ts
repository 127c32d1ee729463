import { isSpecialUse, parseDomain } from "../core/name/domain.ts";
import { v6Groups } from "../core/name/ip-address.ts";
import { REFUSED_PORTS } from "./refused-ports.ts";

export type ReadWebhookUrl =
  /** `host` is in A-labels, or a literal address without brackets. */
  | { readonly ok: true; readonly url: string; readonly host: string }
  /** A sentence for the person who typed it. */
  | { readonly ok: false; readonly reason: string };

const URL_MAX_UNITS = 2_048;
const TOO_LONG = "The URL is longer than 2,048 characters.";

/** Blanks, controls and "\", which URL parsers drop or turn into something else. */
const REPAIRED = /[\s\p{Cc}\p{Cf}\\]/u;
const PARTS = /^https:\/\/(?<authority>[^/?]*)(?<rest>.*)$/iu;
const AUTHORITY = /^(?<host>\[[^\]]*\]|[^:[\]]*)(?::(?<port>\d{1,5}))?$/u;

const no = (reason: string): ReadWebhookUrl => ({ ok: false, reason });

/**
 * Reads the URL of a webhook, by syntax alone; where its host leads is for DNS to say. The host is read by
 * the project's own rules, never repaired: a look-alike or a number that `URL` would read as an address
 * is refused, and a name in other letters is shown in A-labels.
 */
export function readWebhookUrl(text: string): ReadWebhookUrl {
  const { authority = "", rest = "" } = groups(PARTS, text);
  const { host = "", port } = groups(AUTHORITY, authority);
  const reason = textFault(text) ?? authorityFault(authority, host) ?? portFault(port);
  if (reason !== undefined) return no(reason);
  const read = readHost(host);
  return read.ok ? whole(read.host, port, rest) : read;
}

const groups = (pattern: RegExp, text: string): Readonly<Record<string, string>> =>
  pattern.exec(text)?.groups ?? {};

function textFault(text: string): string | undefined {
  if (text === "") return "Give a URL.";
  if (text.length > URL_MAX_UNITS) return TOO_LONG;
  if (REPAIRED.test(text)) {
    return "The URL must not hold blanks, control characters or backslashes.";
  }
  if (text.includes("#")) return "The URL must not hold a fragment (#...).";
  return PARTS.test(text) ? undefined : "The URL must begin with https://.";
}

function authorityFault(authority: string, host: string): string | undefined {
  if (authority.includes("@")) return "The URL must not hold a user name or password.";
  if (authority.endsWith(":")) return "The port is missing.";
  return host === "" ? "The URL has no host, or its port is not a number." : undefined;
}

function portFault(port: string | undefined): string | undefined {
  if (port === undefined) return undefined;
  if (Number(port) > 65_535) return "The port must be at most 65535.";
  return REFUSED_PORTS.has(Number(port)) ? `Port ${port} belongs to another protocol.` : undefined;
}

type ReadHost =
  { readonly ok: true; readonly host: string } | { readonly ok: false; readonly reason: string };

function readHost(host: string): ReadHost {
  if (host.startsWith("[")) return readV6(host.slice(1, -1));
  if (isDottedV4(host)) return { ok: true, host };
  const domain = parseDomain(host);
  if (!domain.ok) return { ok: false, reason: hostWords(domain.fault) };
  const { name } = domain.value;
  return isSpecialUse(name)
    ? { ok: false, reason: `The host ${name} is reserved for special use and not public.` }
    : { ok: true, host: name };
}

function readV6(literal: string): ReadHost {
  return v6Groups(literal) === undefined
    ? { ok: false, reason: "The host is not an IPv6 address." }
    : { ok: true, host: literal.toLowerCase() };
}

/** Four decimal numbers without leading zeros; every other spelling of an address is refused as a name. */
function isDottedV4(host: string): boolean {
  const octets = host.split(".");
  return (
    octets.length === 4 &&
    octets.every((octet) => String(Number(octet)) === octet && Number(octet) <= 255)
  );
}

function hostWords(fault: string): string {
  if (fault === "dotless") return "The host must be a full domain name, such as hooks.example.com.";
  if (fault === "domain_dot_end") return "Write the host without the dot at its end.";
  if (fault === "tld_shape") return "The host is neither a domain name nor a plain IP address.";
  return "The host is not a valid domain name.";
}

/** `URL` encodes the path as a browser does; the host is already beyond repair. */
function whole(host: string, port: string | undefined, rest: string): ReadWebhookUrl {
  const shown = host.includes(":") ? `[${host}]` : host;
  const text = `https://${shown}${port === undefined ? "" : `:${port}`}${rest}`;
  if (!URL.canParse(text)) return no("This is not a valid URL.");
  const { href } = new URL(text);
  return href.length > URL_MAX_UNITS ? no(TOO_LONG) : { ok: true, url: href, host };
}
