import type { Lookup } from "../../mail/lookup.ts";
import { shownText } from "../tag-list.ts";
import type { Check, CheckRun, Outcome, Subject } from "../check.ts";
import { expandTarget, type MacroWorld } from "./spf-macro.ts";
import { isSpfText, parseSpf, type Qualifier, type SpfRecord } from "./spf-record.ts";
import {
  type Provider,
  SPF_FIELDS,
  spfAdvice,
  type SpfFields,
  type SpfSummary,
} from "./spf-words.ts";

/** The SPF texts of one name. `several` is an error of its owner (RFC 7208 section 4.5). */
export type SpfTexts =
  | { readonly kind: "one"; readonly text: string }
  /** `text` is the first by code units, for DNS turns records around from answer to answer. */
  | { readonly kind: "several"; readonly text: string }
  | { readonly kind: "none" }
  | { readonly kind: "unknown" };

export async function fetchSpf(name: string, lookup: Pick<Lookup, "txt">): Promise<SpfTexts> {
  const answer = await lookup.txt(name);
  if (answer.kind === "unknown") return { kind: "unknown" };
  const texts = answer.kind === "found" ? answer.records.filter(isSpfText).sort() : [];
  const [text] = texts;
  if (text === undefined) return { kind: "none" };
  return { kind: texts.length === 1 ? "one" : "several", text };
}

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
 * redirects to, which an `include` never lends (RFC 7208 section 5.2). A target that hangs on a message
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
    const fetched = await fetchSpf(next.target, lookup);
    if (fetched.kind === "unknown") return undefined;
    if (fetched.kind !== "one") return "none"; // a permanent error: RFC 7208 section 6.1
    domain = next.target;
    text = fetched.text;
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

async function run({ domain }: Subject, { lookup }: CheckRun): Promise<Outcome<SpfFields>> {
  const own = await fetchSpf(domain.name, lookup);
  if (own.kind === "unknown") return { kind: "unavailable" };
  if (own.kind === "none") return { kind: "done", fields: { email_auth: { spf: "none" } } };
  const spf = own.kind === "several" ? "none" : await summarise(domain.name, own.text, lookup);
  if (spf === undefined) return { kind: "unavailable" };
  return { kind: "done", fields: { email_auth: { spf, spf_record: shownText(own.text) } } };
}

/** `email_auth.spf` and `email_auth.spf_record` (RFC 7208). */
export const spf: Check<"spf", typeof SPF_FIELDS, Provider> = {
  name: "spf",
  title: "Who may send in its name (SPF)",
  about: "Policy of the SPF record for all other senders.",
  fields: SPF_FIELDS,
  questions: 1 + REDIRECTS_MAX,
  run,
  advise: spfAdvice,
};
