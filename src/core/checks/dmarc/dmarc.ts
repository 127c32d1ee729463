import { type Described, oneOf, Type } from "../../json-schema.ts";
import type { Lookup } from "../../mail/lookup.ts";
import type { MailHosts } from "../../mail/mail-hosts.ts";
import type { Domain } from "../../name/domain.ts";
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
import { parseTagList, shownText, textsAt } from "../tag-list.ts";

const text = (description: string) => Type.Optional(Type.String({ description }));

const Dmarc = Type.Object({
  policy: oneOf(
    ["none", "quarantine", "reject"],
    "As it applies to the asked domain (RFC 9989); `none` alone when nothing is published.",
  ),
  record: text("The record, cut at 4,096 characters."),
  subdomain_policy: text("The policy for sub-domains."),
  pct: Type.Optional(
    Type.Integer({ description: "As published, else 100.", minimum: 0, maximum: 100 }),
  ),
  rua: text("Where aggregate reports go, cut at 4,096 characters."),
});
export type Dmarc = Described<typeof Dmarc>;

const DMARC_FIELDS = {
  email_auth: Type.Object({ dmarc: Type.Optional(Dmarc) }, { description: AUTH }),
};
export type DmarcFields = FieldsOf<typeof DMARC_FIELDS>;

function advise({ domain, email_auth: { dmarc } = {} }: Advised & DmarcFields): AdviceWords {
  if (dmarc === undefined) return NOT_NOW;
  const { policy, record } = dmarc;
  return { ...meaning(dmarc, domain), figure: policy, ...(record !== undefined && { record }) };
}

function meaning(fields: Dmarc, domain: string): AdviceWords {
  const { record } = fields;
  const at = `the TXT record at _dmarc.${domain}`;
  const start = `Set ${at} to: v=DMARC1; p=none; rua=mailto:dmarc-reports@${domain}`;
  if (record === undefined) {
    return {
      state: "bad",
      says: "Nothing tells receivers what to do with mail that forges this domain (no DMARC). Gmail and Yahoo ask bulk senders for it.",
      fix: start,
    };
  }
  const published = parsePolicyRecord(record);
  if (isIgnored(published)) {
    return {
      state: "bad",
      says: "There is a DMARC record, but it has a mistake and receivers pass over it.",
      fix: start,
    };
  }
  const isTest = published.testing && published.p !== "none";
  if (fields.policy === "none" && !isTest) return watchingAdvice(fields, { domain, at });
  const action = fields.policy === "reject" ? "refused" : "put into the spam folder";
  const { pct = 100 } = fields;
  if (isTest || pct < 100) {
    return {
      state: "warn",
      says: "The rule against forged mail (DMARC) is published, but applies to a part of the mail or as a test only.",
      fix: `Once the reports look right, take t=y and pct= out of ${at}.`,
    };
  }
  return { state: "good", says: `Mail that forges this domain is ${action} (DMARC).` };
}

function watchingAdvice(
  { rua }: Dmarc,
  { domain, at }: { readonly domain: string; readonly at: string },
): AdviceWords {
  if (rua === undefined) {
    return {
      state: "warn",
      says: "Forged mail is let through, and you get no reports of it (DMARC says none).",
      fix: `Add rua=mailto:dmarc-reports@${domain} to ${at}, read the reports, then raise p=none to p=quarantine.`,
    };
  }
  return {
    state: "warn",
    says: "Forged mail is only watched, not stopped (DMARC says none).",
    fix: `When the reports name all your own senders, raise p=none to p=quarantine in ${at}, later to p=reject.`,
  };
}

export type DmarcPolicy = "none" | "quarantine" | "reject";

/** What receivers do in a test (RFC 9989 section 4.7, "t"), or with the messages that `pct` leaves out. */
export const LOWER: Readonly<Record<DmarcPolicy, DmarcPolicy>> = {
  reject: "quarantine",
  quarantine: "none",
  none: "none",
};

/** One DMARC policy record (RFC 9989 section 4.7), its defaults not yet filled in. */
export interface PolicyRecord {
  readonly text: string;
  readonly p: DmarcPolicy | undefined;
  readonly sp: DmarcPolicy | undefined;
  readonly np: DmarcPolicy | undefined;
  /** Whose name this is: a registry's ("y"), an organization's ("n"), or unstated ("u"). */
  readonly psd: "y" | "n" | "u";
  /** "t=y": receivers are asked to apply one policy lower. */
  readonly testing: boolean;
  /** 0 to 100. RFC 9989 dropped the tag; receivers of the old kind still read it (RFC 7489 section 6.3). */
  readonly pct: number;
  readonly rua: string | undefined;
  /** Whether `p`, `sp` or `np` has an invalid policy (RFC 9989 section 4.10.1). */
  readonly isBroken: boolean;
}

/** Whether a text is a policy record: the version stands first, "v" in any case and "DMARC1" as it is (RFC 9989 section 4.7). */
export function isDmarcText(text: string): boolean {
  return /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text);
}

/** Unknown tags and broken pieces are passed over (RFC 9989 section 4.7); of a repeated tag the first counts. */
export function parsePolicyRecord(text: string): PolicyRecord {
  const { tags } = parseTagList(text);
  const policies = (["p", "sp", "np"] as const).map((name) => readPolicy(tags.get(name)));
  const [p, sp, np] = policies.map((policy) => (policy === "broken" ? undefined : policy));
  const rua = tags.get("rua");
  const psd = tags.get("psd")?.toLowerCase();
  return {
    text,
    p,
    sp,
    np,
    psd: psd === "y" || psd === "n" ? psd : "u",
    testing: tags.get("t")?.toLowerCase() === "y",
    pct: readPct(tags.get("pct")),
    rua: rua === "" ? undefined : rua,
    isBroken: policies.includes("broken"),
  };
}

function readPolicy(value: string | undefined): DmarcPolicy | "broken" | undefined {
  const lower = value?.toLowerCase();
  if (lower === undefined) return undefined;
  return lower === "none" || lower === "quarantine" || lower === "reject" ? lower : "broken";
}

function readPct(value: string | undefined): number {
  const pct = value !== undefined && /^\d{1,3}$/.test(value) ? Number(value) : 100;
  return pct <= 100 ? pct : 100;
}

/** A scheme, something behind it, and the size limit of RFC 7489 section 6.2 that some still write. */
const REPORT_URI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s,!;"<>\\^`{|}]+(?:!\d+[KMGTkmgt]?)?$/;

const REPORT_URIS_MAX = 20;

/** Whether `rua` names a place to report to, which makes a broken record count as "none" (RFC 9989 section 4.10.1). */
function hasReportUri(rua: string | undefined): boolean {
  if (rua === undefined) return false;
  return rua.split(",", REPORT_URIS_MAX).some((uri) => REPORT_URI.test(uri.trim()));
}

/** Whether receivers act as though there were no record (RFC 9989 section 4.10.1). */
export function isIgnored({ isBroken, rua }: PolicyRecord): boolean {
  return isBroken && !hasReportUri(rua);
}

interface PublishedPolicy {
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
): Promise<PublishedPolicy | "none" | "unknown"> {
  const texts = await textsAt(`_dmarc.${domain}`, lookup, isDmarcText);
  if (texts === "unknown") return "unknown";
  const [text, ...more] = texts;
  if (text === undefined || more.length > 0) return "none";
  return { domain, record: parsePolicyRecord(text) };
}

/** RFC 9989 section 4.10.1: the domain's own record ends it; else the walk goes up until a record says "psd=y" or "psd=n". */
async function discover(
  domain: string,
  lookup: Pick<Lookup, "txt">,
): Promise<PublishedPolicy | "none" | "unknown"> {
  const above: PublishedPolicy[] = [];
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

/** The highest record, or the one a label below a registry's ("psd=y"), or the registry's own (section 4.10.2). */
function ofOrganization(
  above: readonly PublishedPolicy[],
  domain: string,
): PublishedPolicy | undefined {
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
  { domain, mail }: CheckedSubject,
  lookup: Lookup,
): Promise<DmarcPolicy | undefined> {
  if (np === sp) return sp;
  const there = await exists(domain, mail, lookup);
  return there === undefined ? undefined : there ? sp : np;
}

/** The API's fields for a record; a broken one counts as "none", with reports only when it asks for them well. */
function fieldsOf(record: PolicyRecord, policy: DmarcPolicy): Dmarc {
  const text = shownText(record.text);
  if (isIgnored(record)) return { policy: "none", record: text };
  const applied = (published: DmarcPolicy): DmarcPolicy =>
    record.isBroken ? "none" : record.testing ? LOWER[published] : published;
  return {
    policy: applied(policy),
    record: text,
    subdomain_policy: applied(record.sp ?? record.p ?? "none"),
    pct: record.pct,
    ...(record.rua === undefined ? {} : { rua: shownText(record.rua) }),
  };
}

async function run(
  subject: CheckedSubject,
  { lookup }: CheckRun,
): Promise<CheckOutcome<DmarcFields>> {
  const published = await discover(subject.domain.name, lookup);
  if (published === "unknown") return "unavailable";
  if (published === "none") return { email_auth: { dmarc: { policy: "none" } } };
  const { domain, record } = published;
  const own = domain === subject.domain.name;
  const policy = own ? (record.p ?? "none") : await inherited(record, subject, lookup);
  return policy === undefined ? "unavailable" : { email_auth: { dmarc: fieldsOf(record, policy) } };
}

export const dmarc: Check<"dmarc", typeof DMARC_FIELDS> = {
  name: "dmarc",
  title: "What happens to forged mail (DMARC)",
  about: "Policy for mail that forges the domain.",
  fields: DMARC_FIELDS,
  questions: 10, // eight names of the walk, and whether the domain exists: A and AAAA
  run,
  advise,
};
