import { parse } from "tldts";
import { hasInvisible, v6Groups } from "./ip-address.ts";
import { SPECIAL_USE_NAMES } from "../tables/data.ts";
import punycode from "punycode/punycode.js";
import { toASCII } from "tr46";

export const BEYOND_ASCII = /[^\0-\x7f]/;

const UTS46 = {
  checkBidi: true,
  checkHyphens: true,
  checkJoiners: true,
  ignoreInvalidPunycode: false,
  transitionalProcessing: false,
  useSTD3ASCIIRules: true,
  verifyDNSLength: false, // lengths are counted by `parseDomain`, in one place
} as const;

/** Names like "r3---x" exist in ASCII. `parseDomain` refuses outer hyphens. */
const ANY_HYPHENS = { ...UTS46, checkHyphens: false } as const;

/** This is UTS-46, non-transitional. A U-label has inner hyphens only, not two in places 3 and 4 (RFC 5891 section 4.2.3.1). */
export function aLabels(text: string): string | undefined {
  const lower = text.toLowerCase();
  if (!BEYOND_ASCII.test(text) && !lower.includes("xn--")) return lower;
  const simple = simpleName(text);
  if (simple !== undefined) return simple;
  if (!HYPHENS.test(lower.replaceAll("xn--", ""))) return toASCII(text, UTS46) ?? undefined;
  const name = toASCII(text, ANY_HYPHENS) ?? undefined;
  return name?.split(".").every(isALabelOrPlain) === true ? name : undefined;
}

/** Hyphens that `checkHyphens` might refuse: beside a dot or another hyphen, first or last, or what maps to one. */
const HYPHENS =
  /--|^-|-$|-[.\u3002\uff0e\uff61]|[.\u3002\uff0e\uff61]-|[\ufe63\uff0d\u00ad]|\p{Cf}/u;

const isALabelOrPlain = (label: string): boolean =>
  !label.startsWith("xn--") || toASCII(label, UTS46) !== null;

/** UTS-46 has nothing to do for names of simple characters but to encode them, and takes 20 times as long for that. */
function simpleName(text: string): string | undefined {
  const labels: string[] = [];
  for (const label of text.split(".")) {
    const made = BEYOND_ASCII.test(label) ? simpleLabel(label) : plainLabel(label);
    if (made === undefined) return undefined;
    labels.push(made);
  }
  return labels.join(".");
}

function plainLabel(label: string): string | undefined {
  const lower = label.toLowerCase();
  if (!/^[a-z0-9-]*$/.test(lower)) return undefined;
  if (!lower.startsWith("xn--")) return lower;
  const text = lower.length > LABEL_MAX_OCTETS ? "" : fromALabel(lower);
  return BEYOND_ASCII.test(text) && simpleLabel(text) === lower ? lower : undefined;
}

/** A longer one has no A-label of 63 octets, and costs the square of its length to encode. */
function simpleLabel(label: string): string | undefined {
  const characters = Array.from(label);
  if (!characters.every(isSimple) || characters.length > LABEL_MAX_OCTETS) return undefined;
  return `xn--${punycode.encode(label)}`;
}

function fromALabel(label: string): string {
  try {
    return punycode.decode(label.slice("xn--".length));
  } catch {
    return "";
  }
}

const UNKNOWN = 0;
const SIMPLE = 1;
const OTHER = 2;

/** There are no letters beyond this code point. */
const CODES_MAX = 0x40000;
let kinds: Uint8Array | undefined;

/** UTS-46 takes it as it is wherever it stands: valid, not mapped, joins nothing before it, written from left to right. */
function isSimple(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  if (code < 128) return /[a-z0-9]/.test(character);
  if (code >= CODES_MAX) return false;
  kinds ??= new Uint8Array(CODES_MAX);
  if (kinds[code] === UNKNOWN) kinds[code] = findSimple(character) ? SIMPLE : OTHER;
  return kinds[code] === SIMPLE;
}

function findSimple(character: string): boolean {
  if (JOINING.test(character) || !LEFT_TO_RIGHT.test(character)) return false;
  return toASCII(character, UTS46) === `xn--${punycode.encode(character)}`;
}

/** Marks, joiners and the later parts of Hangul syllables: normalisation may join them to what stands before. */
const JOINING = /[\p{M}\p{Cf}\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/u;

/** Letters of scripts that are written so, whose bidi class is L. */
const LEFT_TO_RIGHT =
  /^(?=\p{L})[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Thai}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}]$/u;

/** Octets of UTF-8: 256 for a path (RFC 5321 section 4.5.3.1.3) less "<" and ">"; see RFC 3696 erratum 1690. */
export const ADDRESS_MAX_OCTETS = 254;

/** Longest local part in octets of UTF-8 (RFC 5321 section 4.5.3.1.1). */
export const LOCAL_PART_MAX_OCTETS = 64;

/** Longest domain name in textual form, without the last dot (RFC 1035 section 2.3.4). */
export const DOMAIN_MAX_OCTETS = 253;

/** Longest label (RFC 1035 section 2.3.4). */
const LABEL_MAX_OCTETS = 63;

/** These are UTF-16 code units; a longer entry is malformed unread. No accepted address has more units than octets. */
export const ENTRY_MAX_UNITS = 1_024;

export const BULK_MAX_OCTETS = 2_000_000;

export const MX_INFO_MAX = 20;
export const SIGNALS_MAX = 20;

export interface Domain {
  readonly kind: "domain";
  /** Lower-case A-labels without a trailing dot (RFC 5890 section 2.3.2.1). */
  readonly name: string;
  /** ICANN section of the public suffix list; the last label when the list has no rule. */
  readonly publicSuffix: string;
  /** One label more than the public suffix; undefined when the name is itself a public suffix. */
  readonly registrableDomain: string | undefined;
  /** The same with the private section: "shop.github.io". Names above it belong to another owner. */
  readonly privateRegistrableDomain: string | undefined;
}

/** Why a text is no entry. `has_at`: an address where a bare domain was asked for; `length`: too long to parse. */
export const FAULT_WORDS = {
  empty: "it is empty",
  no_at: 'it has no "@"',
  no_local: 'nothing stands before the "@"',
  no_domain: 'nothing stands after the "@"',
  has_at: 'a domain has no "@"; check the address instead',
  surrogate: "it holds half a character, which no encoding can carry",
  length: "it is too long (an address holds at most 254 octets)",
  local_length: 'the part before the "@" is longer than 64 octets',
  local_char: 'the part before the "@" holds a character that needs quotes or is not allowed',
  local_unsafe: 'the part before the "@" holds an invisible or control character',
  dot_start: 'the part before the "@" begins with a dot',
  dot_end: 'the part before the "@" ends with a dot',
  dot_dot: 'the part before the "@" has two dots in a row',
  quoted: 'the quotes before the "@" are not closed or hold what they may not',
  literal: "an IP address in brackets is not accepted as a domain",
  domain_char: "the domain holds a character that no host name has",
  domain_invisible: "the domain holds an invisible character",
  domain_idna: "the domain is too long, has an empty part or letters that no domain may have",
  domain_dot_end: "the domain ends with a dot",
  label_chars: "a part of the domain begins or ends with a hyphen",
  dotless: "the domain has no dot",
  tld_shape: "the last part of the domain is not a top-level domain",
} as const;
export type EntryFault = keyof typeof FAULT_WORDS;

export type Parsed<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly fault: EntryFault };

const DOT = 46;
const HYPHEN = 45;

/** ASCII that no host name holds: all but letters, digits, "-" and "." (RFC 1123 section 2.1). */
const FOREIGN_ASCII = /[\0-,/:-@[-`{-\x7f]/;

function labelFault(name: string): EntryFault | undefined {
  if (name.length > DOMAIN_MAX_OCTETS) return "domain_idna";
  let start = 0;
  for (let at = 0; at <= name.length; at += 1) {
    if (at < name.length && name.charCodeAt(at) !== DOT) continue;
    const length = at - start;
    if (length === 0 || length > LABEL_MAX_OCTETS) return "domain_idna";
    if (name.charCodeAt(start) === HYPHEN || name.charCodeAt(at - 1) === HYPHEN) {
      return "label_chars";
    }
    start = at + 1;
  }
  return undefined;
}

/** Whether the last label can be one: two letters or more, or an A-label (RFC 3696 section 2). */
function isTopLevel(label: string): boolean {
  return label.startsWith("xn--") ? isWord(label) : /^[a-z]{2,}$/.test(label);
}

/** Whether an A-label stands for letters, marks and digits: UTS-46 allows symbols, which no top-level domain has. */
const isWord = (label: string): boolean => /^[\p{L}\p{M}\p{N}-]+$/u.test(fromALabel(label));

/** Syntax only: at least two labels of letters, digits and inner hyphens, the last one no number. */
function nameFault(name: string): EntryFault | undefined {
  const fault = labelFault(name);
  if (fault !== undefined) return fault;
  const lastDot = name.lastIndexOf(".");
  if (lastDot < 0) return "dotless";
  return isTopLevel(name.slice(lastDot + 1)) ? undefined : "tld_shape";
}

/** ASCII or Unicode, any case. The caller has capped the length (`ENTRY_MAX_UNITS`). Never throws. */
export function parseDomain(text: string): Parsed<Domain> {
  const inText = textFault(text);
  if (inText !== undefined) return { ok: false, fault: inText };
  const name = aLabels(text);
  if (name === undefined || name === "" || FOREIGN_ASCII.test(name)) {
    return { ok: false, fault: /[\u200c\u200d]/.test(text) ? "domain_invisible" : "domain_idna" };
  }
  if (name.endsWith(".") && !name.endsWith("..")) return { ok: false, fault: "domain_dot_end" };
  const fault = nameFault(name);
  return fault === undefined ? { ok: true, value: place(name) } : { ok: false, fault };
}

function textFault(text: string): EntryFault | undefined {
  if (text === "") return "empty";
  if (FOREIGN_ASCII.test(text)) return "domain_char";
  // UTS-46 drops these silently: two names that look the same would count as one.
  if (!BEYOND_ASCII.test(text)) return undefined;
  // UTS-46 allows joiners where RFC 5892 appendix A.1 and A.2 do, as registries do, and refuses others.
  return hasInvisible(text.replace(JOINERS, "")) ? "domain_invisible" : undefined;
}

const JOINERS = /[\u200c\u200d]/g;

const PSL = { validateHostname: false, extractHostname: false, detectIp: false } as const;
const ICANN = { ...PSL, allowPrivateDomains: false } as const;
const WHOLE = { ...PSL, allowPrivateDomains: true } as const;

function place(name: string): Domain {
  const whole = parse(name, WHOLE);
  const icann = whole.isPrivate === true ? parse(name, ICANN) : whole;
  return {
    kind: "domain",
    name,
    publicSuffix: icann.publicSuffix ?? name.slice(name.lastIndexOf(".") + 1),
    registrableDomain: icann.domain ?? undefined,
    privateRegistrableDomain: whole.domain ?? undefined,
  };
}

/** Whether the last labels of a well-formed name are on the public suffix list: names under other endings cannot exist. */
export const hasKnownEnding = (name: string): boolean => parse(name, ICANN).isIcann === true;

/** The registrable domain of a well-formed host name under the whole list; undefined for a suffix itself. */
export function registrableOf(host: string): string | undefined {
  return parse(host, WHOLE).domain ?? undefined;
}

/** Whether `text` is a host name that people can register (RFC 1123 section 2.1). */
export function isHostName(text: string): boolean {
  if (text === "" || FOREIGN_ASCII.test(text) || BEYOND_ASCII.test(text)) return false;
  return nameFault(text) === undefined;
}

/** An octet that does not print, a dot within a label or a backslash, as messages are read (RFC 1035 section 5.1). */
const ESCAPED = /\\(?:046|092|1(?:2[89]|[3-9]\d)|2[0-4]\d|25[0-5])/g;

/** Lower-case labels of visible ASCII, the last of which is no number. */
const DNS_NAME = /^(?:[!--/-@[\]-~]{1,63}\.)*(?!\d+$)[!--/-@[\]-~]{1,63}$/;

/** Any name without white space and control characters (RFC 2181 section 11), "_dc-mx.0a1b.example.com" too; no address. */
export function isMailHost(name: string): boolean {
  const plain = name.includes("\\") ? name.replace(ESCAPED, "x") : name;
  if (plain.length > DOMAIN_MAX_OCTETS || !DNS_NAME.test(plain)) return false;
  return !/^\[.*\]$/.test(plain) && v6Groups(plain) === undefined;
}

export function parseMailHost(text: string): Parsed<string> {
  const bare = withoutLastDot(text);
  const domain = parseDomain(bare);
  if (domain.ok) return { ok: true, value: domain.value.name };
  const name = bare.toLowerCase();
  return isMailHost(name) ? { ok: true, value: name } : domain;
}

/** "example.com." names the same domain (RFC 1034 section 3.1); two dots name none. */
export function withoutLastDot(text: string): string {
  const last = text.length - 1;
  return isDot(text.charCodeAt(last)) && !isDot(text.charCodeAt(last - 1))
    ? text.slice(0, last)
    : text;
}

/** The full stops that UTS-46 takes for the one between labels. */
const isDot = (code: number): boolean =>
  code === 0x2e || code === 0x3002 || code === 0xff0e || code === 0xff61;

/** Never sent to DNS (RFC 6761 and its registry). ".test" and ".example" are, so that a private DNS can serve them. */
export function isSpecialUse(name: string): boolean {
  for (let at = 0; at >= 0; at = nextLabel(name, at)) {
    if (SPECIAL_USE_NAMES.has(at === 0 ? name : name.slice(at))) return true;
  }
  return false;
}

export function nextLabel(name: string, at: number): number {
  const dot = name.indexOf(".", at);
  return dot < 0 ? -1 : dot + 1;
}

/** `name` and each name above it, down to and including `top`; `name` alone when `top` is not above it. */
export function* selfAndParents(name: string, top: string | undefined): Generator<string> {
  yield name;
  if (top === undefined || !name.endsWith(`.${top}`)) return;
  for (let at = nextLabel(name, 0); at >= 0; at = nextLabel(name, at)) {
    const parent = name.slice(at);
    yield parent;
    if (parent.length === top.length) return;
  }
}

/** Whether `name` is `suffix` or lies under it, on a label boundary. */
export function isAtOrUnder(name: string, suffix: string): boolean {
  if (name.length === suffix.length) return name === suffix;
  return name.endsWith(suffix) && name.charCodeAt(name.length - suffix.length - 1) === DOT;
}
