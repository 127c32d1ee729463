import { type Described, oneOf, Type } from "../../json-schema.ts";
import type { Lookup } from "../../mail/lookup.ts";
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
import {
  expandTarget,
  isSpfText,
  type MacroWorld,
  parseSpf,
  type Qualifier,
  type SpfRecord,
} from "./spf-record.ts";

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
