import type { Domain } from "../../name/domain.ts";
import { shownText } from "../tag-list.ts";
import type { Lookup } from "../../mail/lookup.ts";
import type { MailHosts } from "../../mail/mail-hosts.ts";
import type { Check, CheckRun, Outcome, Subject } from "../check.ts";
import {
  DMARC_FIELDS,
  type Dmarc,
  type DmarcFields,
  type Policy,
  type PolicyRecord,
  dmarcAdvice,
  isDmarcText,
  isIgnored,
  parsePolicyRecord,
} from "./dmarc-record.ts";

/** A policy record and the domain that publishes it. */
interface Published {
  readonly domain: string;
  readonly record: PolicyRecord;
}

/** Names of the tree walk: the domain itself and at most seven labels above it (RFC 9989 section 4.10). */
export function walkNames(domain: string): readonly string[] {
  const labels = domain.split(".");
  const names = [domain];
  for (let kept = Math.min(labels.length - 1, 7); kept > 0; kept -= 1) {
    names.push(labels.slice(-kept).join("."));
  }
  return names;
}

/** The one policy record of a domain; several count as none (RFC 9989 section 4.10). */
async function fetchPolicy(
  domain: string,
  lookup: Pick<Lookup, "txt">,
): Promise<Published | "none" | "unknown"> {
  const answer = await lookup.txt(`_dmarc.${domain}`);
  if (answer.kind === "unknown") return "unknown";
  const texts = answer.kind === "found" ? answer.records.filter(isDmarcText) : [];
  const [text, ...more] = texts;
  if (text === undefined || more.length > 0) return "none";
  return { domain, record: parsePolicyRecord(text) };
}

/**
 * Policy discovery (RFC 9989 section 4.10.1): the domain's own record ends it at once; else the walk goes up
 * until a record says "psd=y" or "psd=n", and that of the organizational domain counts.
 */
async function discover(
  domain: string,
  lookup: Pick<Lookup, "txt">,
): Promise<Published | "none" | "unknown"> {
  const above: Published[] = [];
  for (const name of walkNames(domain)) {
    const published = await fetchPolicy(name, lookup);
    if (published === "unknown") return "unknown";
    if (published === "none") continue;
    if (name === domain) return published;
    above.push(published);
    if (published.record.psd !== "u") break;
  }
  return ofOrganization(above, domain) ?? "none";
}

/**
 * Of the records above a domain, from the nearest up, the organizational domain's: the highest one, or under a
 * registry's ("psd=y") the one a label below it; the registry's own where there is none (section 4.10.2).
 */
function ofOrganization(above: readonly Published[], domain: string): Published | undefined {
  const highest = above.at(-1);
  if (highest?.record.psd !== "y") return highest;
  const labelsBelow = domain.slice(0, -highest.domain.length - 1).split(".");
  const organization = `${labelsBelow.at(-1) ?? ""}.${highest.domain}`;
  return above.find(({ domain: name }) => name === organization) ?? highest;
}

/** Whether a domain exists in the sense of RFC 9989 section 3.2: it has an MX, A or AAAA record. */
async function exists(
  { name }: Domain,
  mail: MailHosts,
  lookup: Pick<Lookup, "addresses">,
): Promise<boolean | undefined> {
  if (mail.kind === "unknown") return undefined;
  if (mail.kind === "hosts" || mail.why !== "noMx") return true;
  // "No MX" also stands for addresses that mail cannot reach, which exist all the same.
  const answer = await lookup.addresses(name);
  return answer.kind === "unknown" ? undefined : answer.kind === "found";
}

/** The policy that a record of a higher domain sets for `subject`; undefined if it is unknown whether it exists. */
async function inherited(
  { p = "none", sp = p, np = sp }: PolicyRecord,
  { domain, mail }: Subject,
  lookup: Lookup,
): Promise<Policy | undefined> {
  if (np === sp) return sp;
  const there = await exists(domain, mail, lookup);
  return there === undefined ? undefined : there ? sp : np;
}

/** The API's fields for a record; a broken one counts as "none", with reports only when it asks for them well. */
function fieldsOf(record: PolicyRecord, policy: Policy): Dmarc {
  const text = shownText(record.text);
  const broken = record.state === "broken";
  if (isIgnored(record)) return { policy: "none", record: text };
  return {
    policy: broken ? "none" : policy,
    record: text,
    subdomain_policy: broken ? "none" : (record.sp ?? record.p ?? "none"),
    pct: record.pct,
    ...(record.rua === undefined ? {} : { rua: shownText(record.rua) }),
  };
}

async function run(subject: Subject, { lookup }: CheckRun): Promise<Outcome<DmarcFields>> {
  const published = await discover(subject.domain.name, lookup);
  if (published === "unknown") return { kind: "unavailable" };
  if (published === "none") return done({ policy: "none" });
  const { domain, record } = published;
  const own = domain === subject.domain.name;
  const policy = own ? (record.p ?? "none") : await inherited(record, subject, lookup);
  return policy === undefined ? { kind: "unavailable" } : done(fieldsOf(record, policy));
}

function done(dmarc: Dmarc): Outcome<DmarcFields> {
  return { kind: "done", fields: { email_auth: { dmarc } } };
}

/** `email_auth.dmarc` (RFC 9989). */
export const dmarc: Check<"dmarc", typeof DMARC_FIELDS> = {
  name: "dmarc",
  title: "What happens to forged mail (DMARC)",
  about: "Policy for mail that forges the domain.",
  fields: DMARC_FIELDS,
  questions: 10, // eight names of the walk, and whether the domain exists: A and AAAA
  run,
  advise: dmarcAdvice,
};
