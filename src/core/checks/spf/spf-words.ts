import { type Described, oneOf, strict, Type } from "../../json-schema.ts";
import { SPF_INCLUDES } from "../../tables/data.ts";
import { type Advised, AUTH, type FieldsOf, NOT_NOW, type Words } from "../check.ts";
import { SHOWN_TEXT_MAX } from "../tag-list.ts";
import { parseSpf, type SpfRecord } from "./spf-record.ts";

/** The API's words for the `all` qualifier; RFC 7208 says "fail" where the API says "hardfail". */
const Summary = oneOf(
  ["pass", "neutral", "softfail", "hardfail", "none"],
  "The `all` policy of the effective SPF record (feature `spf`).",
);
export type SpfSummary = Described<typeof Summary>;

export const SPF_FIELDS = {
  email_auth: Type.Object(
    {
      spf: Type.Optional(Summary),
      spf_record: Type.Optional(
        Type.String({ description: "The domain's own record, cut at 4,096 characters." }),
      ),
    },
    { ...strict, description: AUTH },
  ),
};
export type SpfFields = FieldsOf<typeof SPF_FIELDS>;

/** The field of another check, which knows the name of the provider's SPF record. */
export interface Provider {
  readonly inbox_provider?: string;
}

type Read = Advised & SpfFields & Provider;

/** Lookups that a receiver makes for one record before it gives up (RFC 7208 section 4.6.4). */
const LOOKUPS_MAX = 10;

/** What the SPF fields of a result mean to a sender, and what to change. */
export function spfAdvice(result: Read): Words {
  const { spf, spf_record: record } = result.email_auth ?? {};
  if (spf === undefined) return NOT_NOW;
  return { ...meaning(spf, record, result), figure: spf, ...(record !== undefined && { record }) };
}

function meaning(spf: SpfSummary, record: string | undefined, result: Read): Words {
  if (record === undefined) return withoutRecord(result);
  const parsed = parseSpf(record);
  if (spf === "none") {
    if (record.length >= SHOWN_TEXT_MAX) return TOO_LONG;
    return parsed.ok ? brokenAround(parsed.record, result.domain) : brokenAt(parsed.term);
  }
  if (parsed.ok && parsed.record.lookupTerms > LOOKUPS_MAX) return tooManyLookups(parsed.record);
  return SUMMARY_WORDS[spf];
}

const SUMMARY_WORDS: Readonly<Record<"pass" | "neutral" | "softfail" | "hardfail", Words>> = {
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
    says: "The list of your senders (SPF) does not say what to do with all others.",
    fix: "End the SPF record in ~all, and in -all once all your senders are listed.",
  },
  pass: {
    state: "bad",
    says: "The SPF record lets everybody in the world send in your name.",
    fix: "End the SPF record in ~all instead of +all, after listing your real senders.",
  },
};

const TOO_LONG: Words = {
  state: "bad",
  says: "The list of your senders (SPF) is too long: receivers do not read it.",
  fix: "Shorten the SPF record: name each sending service once, by its include.",
};

function withoutRecord({ domain, dns, inbox_provider: provider }: Read): Words {
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
function brokenAt(term: string): Words {
  const shown = term.replace(/[^ -~]/g, "?");
  return {
    state: "bad",
    says: `The list of your senders (SPF) has a mistake, so receivers pass over all of it: "${shown}".`,
    fix: "Correct or remove that part of the SPF record.",
  };
}

/** The domain's own text is fine, so what breaks it is a second record or the target of its redirect. */
function brokenAround({ all, redirect }: SpfRecord, domain: string): Words {
  if (all === undefined && redirect !== undefined) {
    return {
      state: "bad",
      says: "The list of your senders (SPF) points to another name that has no usable list.",
      fix: "Correct the name behind redirect= in the SPF record, or the record there.",
    };
  }
  return {
    state: "bad",
    says: "There is more than one list of your senders (SPF), so receivers use none of them.",
    fix: `Keep a single TXT record at ${domain} that begins with v=spf1, and put all senders into it.`,
  };
}

function tooManyLookups({ lookupTerms }: SpfRecord): Words {
  return {
    state: "bad",
    says: `The list of your senders (SPF) needs ${lookupTerms} lookups; receivers stop after ${LOOKUPS_MAX} and pass over it.`,
    fix: "Remove services you no longer use from the SPF record, and a, mx and ptr where an ip4 will do.",
  };
}
