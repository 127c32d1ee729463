import { type Described, oneOf, Type } from "../../json-schema.ts";
import type { Lookup } from "../../mail/lookup.ts";
import { DOMAIN_MAX_OCTETS } from "../../name/domain.ts";
import { v6Groups } from "../../name/ip-address.ts";
import { SPF_INCLUDES } from "../../tables/data.ts";
import {
  type Advised,
  AUTH,
  type Check,
  type CheckRun,
  type FieldsOf,
  NOT_NOW,
  type CheckOutcome,
  type CheckedSubject,
  type AdviceWords,
} from "../check.ts";
import { SHOWN_TEXT_MAX, shownText, textsAt } from "../tag-list.ts";

/** The API's words for the `all` qualifier; RFC 7208 says "fail" where the API says "hardfail". */
const Summary = oneOf(
  ["pass", "neutral", "softfail", "hardfail", "none"],
  "The `all` policy of the effective SPF record (feature `spf`).",
);
export type SpfSummary = Described<typeof Summary>;

const SPF_FIELDS = {
  email_auth: Type.Object(
    {
      spf: Type.Optional(Summary),
      spf_record: Type.Optional(
        Type.String({ description: "The domain's own record, cut at 4,096 characters." }),
      ),
    },
    { description: AUTH },
  ),
};
export type SpfFields = FieldsOf<typeof SPF_FIELDS>;

/** The field of another check, which knows the name of the provider's SPF record. */
export interface Provider {
  readonly inbox_provider?: string;
}

type SpfReading = Advised & SpfFields & Provider;

const LOOKUPS_MAX = 10;

function advise(result: SpfReading): AdviceWords {
  const { spf, spf_record: record } = result.email_auth ?? {};
  if (spf === undefined) return NOT_NOW;
  return { ...meaning(spf, record, result), figure: spf, ...(record !== undefined && { record }) };
}

function meaning(spf: SpfSummary, record: string | undefined, result: SpfReading): AdviceWords {
  if (record === undefined) return withoutRecord(result);
  const parsed = parseSpf(record);
  if (spf === "none") {
    if (record.length >= SHOWN_TEXT_MAX) return TOO_LONG;
    return parsed.ok ? brokenAround(parsed.record, result.domain) : brokenAt(parsed.term);
  }
  if (parsed.ok && parsed.record.lookupTerms > LOOKUPS_MAX) return tooManyLookups(parsed.record);
  return SUMMARY_WORDS[spf];
}

const SUMMARY_WORDS: Readonly<Record<"pass" | "neutral" | "softfail" | "hardfail", AdviceWords>> = {
  hardfail: {
    state: "good",
    says: "Mail in your name from servers you did not list is refused (SPF).",
  },
  softfail: {
    state: "good",
    says: "Mail in your name from servers you did not list is treated with suspicion (SPF).",
    fix: "Once all your senders are listed, end the record in -all instead of ~all.",
  },
  neutral: {
    state: "warn",
    says: "The domain's list of senders (SPF) does not say what to do with all others.",
    fix: "End the SPF record in ~all, and in -all once all your senders are listed.",
  },
  pass: {
    state: "bad",
    says: "The SPF record lets everybody in the world send in your name.",
    fix: "End the SPF record in ~all instead of +all, after listing your real senders.",
  },
};

const TOO_LONG: AdviceWords = {
  state: "bad",
  says: "The domain's list of senders (SPF) is too long: receivers do not read it.",
  fix: "Shorten the SPF record: name each sending service once, by its include.",
};

function withoutRecord({ domain, dns, inbox_provider: provider }: SpfReading): AdviceWords {
  const known = SPF_INCLUDES.find(([name]) => name === provider)?.[1][0];
  const include = known ?? "the-name-your-mail-provider-gives-you";
  const record = dns ? `v=spf1 include:${include} ~all` : "v=spf1 -all";
  return {
    state: "bad",
    says: "Nothing says which servers may send in your name (no SPF record).",
    fix: `Publish one TXT record at ${domain}: ${record}${dns ? "" : " (it says that no server sends mail)"}`,
  };
}

/** `term` comes from DNS and goes to a terminal, so only what prints is shown. */
function brokenAt(term: string): AdviceWords {
  const shown = term.replace(/[^ -~]/g, "?");
  return {
    state: "bad",
    says: `The domain's list of senders (SPF) has a mistake, so receivers pass over all of it: "${shown}".`,
    fix: "Correct or remove that part of the SPF record.",
  };
}

/** The domain's own text is fine, so what breaks it is a second record or the target of its redirect. */
function brokenAround({ all, redirect }: SpfRecord, domain: string): AdviceWords {
  if (all === undefined && redirect !== undefined) {
    return {
      state: "bad",
      says: "The domain's list of senders (SPF) points to another name that has no usable list.",
      fix: "Correct the name behind redirect= in the SPF record, or the record there.",
    };
  }
  return {
    state: "bad",
    says: "There is more than one list of its senders (SPF), so receivers use none of them.",
    fix: `Keep a single TXT record at ${domain} that begins with v=spf1, and put all senders into it.`,
  };
}

function tooManyLookups({ lookupTerms }: SpfRecord): AdviceWords {
  return {
    state: "bad",
    says: `The domain's list of senders (SPF) needs ${lookupTerms} lookups; receivers stop after ${LOOKUPS_MAX} and pass over it.`,
    fix: "Remove services you no longer use from the SPF record, and a, mx and ptr where an ip4 will do.",
  };
}

/** The SPF texts of one name; several are an error of its owner (RFC 7208 section 4.5). */
export const fetchSpf = (
  name: string,
  lookup: Pick<Lookup, "txt">,
): Promise<readonly string[] | "unknown"> => textsAt(name, lookup, isSpfText);

const SUMMARIES: Readonly<Record<Qualifier, SpfSummary>> = {
  "+": "pass",
  "-": "hardfail",
  "~": "softfail",
  "?": "neutral",
};

/** Redirects followed from one record to the next (RFC 7208 section 4.6.4 allows ten lookups). */
export const REDIRECTS_MAX = 10;

/**
 * The effective record's result for senders that nothing matched: its own `all`, else that of the record it
 * redirects to, which an `include` never lends (RFC 7208 section 5.2). A target that depends on a message
 * leaves the policy open: neutral. Undefined when a lookup could not finish.
 */
async function summarise(
  askedDomain: string,
  ownText: string,
  lookup: Pick<Lookup, "txt">,
): Promise<SpfSummary | undefined> {
  const seen = new Set([askedDomain]);
  let domain = askedDomain;
  let text = ownText;
  for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
    const parsed = parseSpf(text);
    if (!parsed.ok) return "none";
    const next = nextOf(parsed.record, { domain, senderDomain: askedDomain });
    if (next.kind === "summary") return next.summary;
    if (hops === REDIRECTS_MAX || seen.has(next.target)) return "none";
    const texts = await fetchSpf(next.target, lookup);
    if (texts === "unknown") return undefined;
    if (texts.length !== 1) return "none"; // a permanent error: RFC 7208 section 6.1
    domain = next.target;
    text = texts[0] ?? "";
    seen.add(domain);
  }
  return "none";
}

type Next =
  | { readonly kind: "summary"; readonly summary: SpfSummary }
  | { readonly kind: "redirect"; readonly target: string };

/** A redirect counts only where there is no `all` (RFC 7208 section 6.1). */
function nextOf({ all, redirect }: SpfRecord, world: MacroWorld): Next {
  if (all !== undefined) return { kind: "summary", summary: SUMMARIES[all] };
  const target = redirect === undefined ? undefined : expandTarget(redirect, world);
  if (target === undefined) return { kind: "summary", summary: "neutral" }; // RFC 7208 section 4.7
  return { kind: "redirect", target };
}

async function run(
  { domain }: CheckedSubject,
  { lookup }: CheckRun,
): Promise<CheckOutcome<SpfFields>> {
  const texts = await fetchSpf(domain.name, lookup);
  if (texts === "unknown") return "unavailable";
  // The first by code units is shown, for DNS turns records around from answer to answer.
  const [text] = [...texts].sort();
  if (text === undefined) return { email_auth: { spf: "none" } };
  const spf = texts.length > 1 ? "none" : await summarise(domain.name, text, lookup);
  return spf === undefined ? "unavailable" : { email_auth: { spf, spf_record: shownText(text) } };
}

export const spf: Check<"spf", typeof SPF_FIELDS, Provider> = {
  name: "spf",
  title: "Who may send in its name (SPF)",
  about: "Policy of the SPF record for all other senders.",
  fields: SPF_FIELDS,
  questions: 1 + REDIRECTS_MAX,
  run,
  advise,
};

/** What a mechanism's match means (RFC 7208 section 4.6.2). */
type Qualifier = "+" | "-" | "~" | "?";

interface SpfRecord {
  /** It is that of the first `all`; what stands behind that one is never reached (RFC 7208 section 5.1). */
  readonly all: Qualifier | undefined;
  readonly redirect: string | undefined;
  /** Targets of `include:`, macros unexpanded, in order, at most `INCLUDES_MAX`. */
  readonly includes: readonly string[];
  /** Terms that cost a receiver a DNS lookup: more than ten and it gives up (RFC 7208 section 4.6.4). */
  readonly lookupTerms: number;
}

type SpfParsed =
  { readonly ok: true; readonly record: SpfRecord } | { readonly ok: false; readonly term: string };

/** A receiver follows ten; the rest is of no use to anybody. */
const INCLUDES_MAX = 50;

/** A record of more terms counts as broken: it would only cost whoever reads it time. */
const TERMS_MAX = 5_000;

/** Whether a text claims to be SPF: the version, then a space or the end (RFC 7208 section 4.5). */
export function isSpfText(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/** RFC 7208 section 12: any error anywhere breaks all of it (section 4.6). Never throws; linear in its length. */
export function parseSpf(text: string): SpfParsed {
  const terms: Term[] = [];
  let read = 0;
  for (const [written] of text.slice("v=spf1".length).matchAll(/[^ ]+/g)) {
    const term = readTerm(written);
    read += 1;
    if (term === undefined || isSecond(term, terms) || read > TERMS_MAX) {
      return { ok: false, term: written.slice(0, 80) };
    }
    if (term.kind !== "noted") terms.push(term);
  }
  const targets = (name: string): string[] =>
    terms.filter((term) => term.name === name).map(({ target }) => target);
  const record: SpfRecord = {
    all: terms.find(({ name }) => name === "all")?.qualifier,
    redirect: targets("redirect")[0],
    includes: targets("include").slice(0, INCLUDES_MAX),
    lookupTerms: terms.filter(({ name }) => COSTS_LOOKUP.has(name)).length,
  };
  return { ok: true, record };
}

function isSecond({ kind, name }: Term, terms: readonly Term[]): boolean {
  return kind === "once" && terms.some((term) => term.name === name);
}

const COSTS_LOOKUP: ReadonlySet<string> = new Set([
  "include",
  "a",
  "mx",
  "ptr",
  "exists",
  "redirect",
]);

interface Term {
  /** "once" are `redirect` and `exp`; "noted" is an undefined modifier, which has no effect (section 6). */
  readonly kind: "mechanism" | "once" | "noted";
  readonly name: string;
  readonly qualifier: Qualifier;
  readonly target: string;
}

/** A name, and up to which character it is one tells what kind of term this is. */
const TERM = /^([+?~-]?)([A-Za-z][A-Za-z0-9._-]*)([:/=]?)/;

function readTerm(term: string): Term | undefined {
  const match = TERM.exec(term);
  if (match === null) return undefined;
  const [head = "", sign = "", word = "", mark = ""] = match;
  const name = word.toLowerCase();
  const rest = term.slice(head.length);
  if (mark === "=") return sign === "" ? readModifier(name, rest) : undefined;
  return readMechanism(name, sign, mark, rest);
}

function readMechanism(name: string, sign: string, mark: string, rest: string): Term | undefined {
  if (mark === "" && rest !== "") return undefined;
  const target = mark === "/" ? `/${rest}` : rest;
  if (MECHANISMS.get(name)?.(target, mark) !== true) return undefined;
  return { kind: "mechanism", name, qualifier: readQualifier(sign), target };
}

function readQualifier(sign: string): Qualifier {
  return sign === "-" || sign === "~" || sign === "?" ? sign : "+";
}

function readModifier(name: string, target: string): Term | undefined {
  const once = name === "redirect" || name === "exp";
  const valid = once ? isDomainSpec(target) : readMacroString(target) !== undefined;
  return valid ? { kind: once ? "once" : "noted", name, qualifier: "+", target } : undefined;
}

type ArgumentRule = (argument: string, mark: string) => boolean;

const domainOnly: ArgumentRule = (argument, mark) => mark === ":" && isDomainSpec(argument);

const domainAndLengths: ArgumentRule = (argument, mark) => {
  const slash = prefixLengthsAt(argument);
  if (slash === undefined) return false;
  return mark === ":" ? isDomainSpec(argument.slice(0, slash)) : slash === 0;
};

const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const LENGTH_4 = "/(?:3[0-2]|[12]\\d|\\d)";
const LENGTH_6 = "/(?:12[0-8]|1[01]\\d|[1-9]?\\d)";
const IP4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}(?:${LENGTH_4})?$`);
const IP6_LENGTH = new RegExp(`^${LENGTH_6}$`);
const LENGTHS = new RegExp(`^(?:${LENGTH_4})?(?:/${LENGTH_6})?$`);

/** Where "/24//64" begins (RFC 7208 section 12, dual-cidr-length); undefined when what looks like one is wrong. */
function prefixLengthsAt(argument: string): number | undefined {
  const tail = /(?:\/\d*){1,3}$/.exec(argument.slice(-12));
  const at = tail === null ? argument.length : argument.length - tail[0].length;
  return LENGTHS.test(argument.slice(at)) ? at : undefined;
}

/** An IPv6 address is at most 45 characters, so nothing longer is looked at. */
function isIp6Network(argument: string): boolean {
  if (argument.length > 50) return false;
  const slash = argument.indexOf("/");
  const address = slash < 0 ? argument : argument.slice(0, slash);
  const length = slash < 0 ? "" : argument.slice(slash);
  return v6Groups(address) !== undefined && (length === "" || IP6_LENGTH.test(length));
}

/** The last label of a written-out target: a letter or an inner hyphen in it (RFC 7208 section 7.1, toplabel). */
const TOP_LABEL =
  /\.(?:[A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*|[A-Za-z0-9]+-[A-Za-z0-9-]*[A-Za-z0-9])\.?$/;

/** RFC 7208 section 7.1, domain-spec: macros and text that end in a top label or in a macro, of no more octets than a name has. */
function isDomainSpec(text: string): boolean {
  const whole = text.length > DOMAIN_MAX_OCTETS ? undefined : readMacroString(text);
  if (whole === undefined) return false;
  return whole.endsInMacro || TOP_LABEL.test(text.slice(-66));
}

/** RFC 7208 section 5; anything else is a syntax error (section 4.6.1). */
const MECHANISMS: ReadonlyMap<string, ArgumentRule> = new Map([
  ["all", (_argument: string, mark: string) => mark === ""],
  ["include", domainOnly],
  ["exists", domainOnly],
  ["a", domainAndLengths],
  ["mx", domainAndLengths],
  ["ptr", (argument: string, mark: string) => mark === "" || domainOnly(argument, mark)],
  ["ip4", (argument: string, mark: string) => mark === ":" && IP4.test(argument)],
  ["ip6", (argument: string, mark: string) => mark === ":" && isIp6Network(argument)],
]);

/**
 * RFC 7208 section 7.1. "%{d0}" would ask for no label at all. The letters `c`, `r` and `t` are for explanations
 * (section 7.2), which are not used. A name has at most 127 labels, and there are seven delimiters.
 */
const MACRO = "%\\{([slodiphv])(?!0+\\D)(\\d{0,3})(r?)([.\\-+,/_=]{0,7})\\}";

const PIECE = new RegExp(`(${MACRO})|%[%_-]|[!-$&-~]+`, "iy");

/** Undefined: the text is none. It is read piece by piece, because one expression for all of them fills the stack. */
function readMacroString(text: string): { readonly endsInMacro: boolean } | undefined {
  let endsInMacro = false;
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < text.length) {
    const piece = PIECE.exec(text);
    if (piece === null) return undefined;
    endsInMacro = piece[1] !== undefined;
  }
  return { endsInMacro };
}

const MACRO_OR_ESCAPE = new RegExp(`${MACRO}|%[%_-]`, "gi");

const ESCAPES: Readonly<Record<string, string>> = { "%%": "%", "%_": " ", "%-": "%20" };

interface MacroWorld {
  readonly domain: string;
  readonly senderDomain: string;
}

/**
 * Lower case, no trailing dot. Undefined when it is longer than a name before it is expanded, or depends on a message (its
 * sender's local part, its client's address).
 */
export function expandTarget(target: string, world: MacroWorld): string | undefined {
  if (target.length > DOMAIN_MAX_OCTETS) return undefined;
  const values: Readonly<Record<string, string>> = { d: world.domain, o: world.senderDomain };
  let isKnown = true;
  const name = target.replace(MACRO_OR_ESCAPE, (whole, ...macro: readonly string[]) => {
    const [letter, digits, reverse, delimiters = ""] = macro;
    if (letter === undefined) return ESCAPES[whole] ?? "";
    const value = values[letter.toLowerCase()];
    isKnown &&= value !== undefined;
    const labels = (value ?? "").split(new RegExp(`[${delimiters.replaceAll("-", "\\-") || "."}]`));
    if (reverse !== "") labels.reverse();
    return labels.slice(-Number(digits)).join("."); // without digits all of them
  });
  return isKnown ? shorten(name.toLowerCase().replace(/\.$/, "")) : undefined;
}

/** A target that expands to more than a name may have loses labels on its left (RFC 7208 section 7.3). */
function shorten(name: string): string {
  if (name.length <= DOMAIN_MAX_OCTETS) return name;
  const dot = name.indexOf(".", name.length - DOMAIN_MAX_OCTETS - 1);
  return dot < 0 ? "" : name.slice(dot + 1);
}
