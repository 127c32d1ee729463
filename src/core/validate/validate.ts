import {
  type Address,
  type Entry,
  type EntryMode,
  mailboxUser,
  readEntry,
  subAddress,
} from "../address/address.ts";
import { aliasOf, canonicalAddress, isIssued } from "../evidence/alias.ts";
import type { CheckedSubject } from "../checks/check.ts";
import type { Feature } from "../checks/registry.ts";
import {
  type RequestedChecks,
  type CheckResults,
  NOTHING_ASKED,
  runChecks,
  withoutFeatures,
} from "../checks/run.ts";
import type { Datasets } from "../evidence/datasets.ts";
import { domainEvidence, excuse, isKnownGood, weigh } from "../evidence/domain-evidence.ts";
import { type Domain, MX_INFO_MAX } from "../name/domain.ts";
import { type FormatProblem, formatProblem } from "./malformed.ts";
import type { Awaitable, Lookup, Within } from "../mail/lookup.ts";
import {
  findMailHosts,
  type MailHosts,
  mailWithoutDns,
  type NoMailReason,
} from "../mail/mail-hosts.ts";
import type { DomainInfo, FullResult, ValidationResult } from "./result.ts";
import { type Evidence, evidence, type Signal } from "../evidence/signals.ts";

const KNOWN_ACCOUNT_WEIGHT = 1;

export function accountEvidence(address: Address, datasets: Datasets): readonly Evidence[] {
  const canonical = canonicalAddress(address);
  const word = datasets.operator.address(canonical);
  if (word === "allow") return [evidence("operator_allow")];
  if (word !== undefined) {
    return [{ ...evidence("disposable_account"), weight: KNOWN_ACCOUNT_WEIGHT }];
  }
  const pieces = isGmail(address) ? gmailEvidence(mailboxUser(address)) : NO_EVIDENCE;
  if (isIssued(address)) return pieces;
  return [...pieces, evidence("typo_local_part", { subject: address.domain.name })];
}

const isGmail = ({ domain }: Address): boolean =>
  domain.name === "gmail.com" || domain.name === "googlemail.com";

function gmailEvidence(local: string): readonly Evidence[] {
  const { user, detail } = subAddress(local);
  const pieces: Evidence[] = [];
  if (isGenerated(user, detail)) pieces.push(evidence("disposable_account"));
  if (isScattered(user)) pieces.push(evidence("dot_scatter"));
  return pieces;
}

/** "mfpstmp+kjort": a generator whose mailboxes end in "tmp" (FGRibreau/mailchecker #297). Dots do not count at Gmail. */
function isGenerated(user: string, detail: string): boolean {
  const mailbox = user.replaceAll(".", "");
  return /^[a-z]{5,}$/.test(mailbox) && mailbox.endsWith("tmp") && /^[a-z0-9]{3,}$/.test(detail);
}

/** Many dots between short pieces: 20 of 29 reported accounts, 0 of 10 ordinary dotted ones (2026-11). */
const SCATTER_MIN_DOTS = 4;
const SCATTER_MAX_LETTERS_A_PIECE = 2.5;

function isScattered(user: string): boolean {
  const pieces = user.split(".");
  const dots = pieces.length - 1;
  const letters = user.length - dots;
  return dots >= SCATTER_MIN_DOTS && letters / pieces.length <= SCATTER_MAX_LETTERS_A_PIECE;
}

export interface EntryQuestion {
  readonly text: string;
  readonly mode: EntryMode;
  readonly asked: RequestedChecks;
  readonly nowMs: number;
  readonly implicitMx: boolean;
}

export interface World {
  readonly datasets: Datasets;
  readonly lookup: Lookup;
  readonly within: Within;
}

export interface Validation {
  readonly entry: Entry;
  readonly result: FullResult;
  readonly evidence: readonly Evidence[];
  readonly problem?: FormatProblem;
  readonly mail?: MailHosts;
  readonly unavailable: readonly Feature[];
}

/** THE main path: one entry in, one result out. Never throws for what the text or DNS says. */
export async function validate(question: EntryQuestion, world: World): Promise<Validation> {
  const entry = readEntry(question.text, question.mode);
  if (entry.kind === "malformed") return malformed(entry, question);
  const found = findMailHosts(entry.domain.name, world.lookup, question.implicitMx);
  const mail = found instanceof Promise ? await found : found;
  const subject = subjectOf(entry, mail);
  const { asked, nowMs, implicitMx } = question;
  const { datasets, within } = world;
  const checks =
    asked.features.length === 0
      ? withoutFeatures(asked, subject, datasets)
      : await runChecks(asked, subject, {
          lookup: within(Infinity),
          within,
          datasets,
          nowMs,
          implicitMx,
        });
  return assemble(entry, subject, { checks, datasets });
}

/** The first half of `validate`, for entries by the thousand: all that waits for DNS. Of a malformed entry "none". */
export function mailOf(
  { text, mode, implicitMx }: Pick<EntryQuestion, "text" | "mode" | "implicitMx">,
  lookup: Lookup,
): Awaitable<MailHosts> {
  const entry = readEntry(text, mode);
  if (entry.kind === "malformed") return { kind: "none", why: "noMx" };
  return findMailHosts(entry.domain.name, lookup, implicitMx);
}

/**
 * The second half, without features. It reads the entry once more: what was read weighs more than the text. Without
 * `mail` it says what is known before DNS is asked.
 */
export function validationOf(
  question: EntryQuestion,
  mail: MailHosts | undefined,
  datasets: Datasets,
): Validation {
  const entry = readEntry(question.text, question.mode);
  if (entry.kind === "malformed") return malformed(entry, question);
  const subject = subjectOf(entry, mail ?? mailWithoutDns(entry.domain.name));
  const checks = withoutFeatures(question.asked, subject, datasets);
  return assemble(entry, subject, { checks, datasets });
}

type WellFormed = Exclude<Entry, { kind: "malformed" }>;

const subjectOf = (entry: WellFormed, mail: MailHosts): CheckedSubject =>
  entry.kind === "address"
    ? { domain: entry.domain, mail, address: entry.address }
    : { domain: entry.domain, mail };

function malformed(
  entry: Entry & { readonly kind: "malformed" },
  question: EntryQuestion,
): Validation {
  const result: ValidationResult = {
    format: false,
    domain: entry.shownDomain,
    disposable: false,
    dns: false,
    confidence: 0,
    whitelist: false,
    signals: [],
    role: false,
    free: false,
    ...(entry.as === "address" ? { alias: false } : {}),
  };
  const problem = formatProblem(question.text, question.mode, entry.fault);
  return { entry, result, evidence: [], unavailable: [], problem };
}

/** A result in the making: fields are set in the contract's order, which is the order they are sent in. */
type DraftResult = { -readonly [Field in keyof FullResult]: FullResult[Field] };

function assemble(
  entry: WellFormed,
  subject: CheckedSubject,
  { checks, datasets }: { readonly checks: CheckResults; readonly datasets: Datasets },
): Validation {
  const { domain, address, mail } = subject;
  const alias = address === undefined ? undefined : aliasOf(address, mail);
  const account = address === undefined ? NO_EVIDENCE : accountEvidence(address, datasets);
  const whitelist = account.some(isAllowance) || isKnownGood(domain.name, datasets);
  const pieces = domainEvidence(domain, mail, datasets).concat(mailEvidence(mail), account);
  if (alias === "sub_address") pieces.push(evidence("plus_alias"));
  if (checks.freshDomain) pieces.push(evidence("fresh_domain"));
  if (datasets.operator.domain(domain.name) === "allow") pieces.push(evidence("operator_allow"));
  const verdict = weigh(whitelist ? excuse(pieces) : pieces);
  const draft: Partial<DraftResult> = {
    format: true,
    domain: domain.name,
    disposable: verdict.disposable,
    dns: mail.kind === "hosts",
    confidence: verdict.confidence,
    whitelist,
    signals: verdict.evidence.map(({ signal }) => signal),
  };
  const meant = didYouMean(subject, verdict.evidence);
  if (meant !== undefined) draft.did_you_mean = meant;
  draft.domain_info = domainInfo(domain);
  if (mail.kind === "hosts") draft.mx_info = mail.hosts.slice(0, MX_INFO_MAX);
  draft.role = address !== undefined && isRole(address, datasets);
  draft.free = datasets.free.has(domain.name);
  if (address !== undefined) draft.alias = alias !== undefined;
  if (checks !== NOTHING_ASKED) Object.assign(draft, checks.fields);
  const result = draft as DraftResult; // all that is required is set by now
  return { entry, result, evidence: verdict.evidence, mail, unavailable: checks.unavailable };
}

const NO_EVIDENCE: readonly Evidence[] = [];

const isAllowance = ({ signal }: Evidence): boolean => signal === "operator_allow";

function didYouMean({ address }: CheckedSubject, pieces: readonly Evidence[]): string | undefined {
  const provider = pieces.find(({ signal }) => signal === "typo_domain")?.subject;
  if (provider === undefined || address === undefined) return provider;
  return `${address.localPart}@${provider}`;
}

function domainInfo({ name, publicSuffix, registrableDomain }: Domain): DomainInfo {
  const isSubdomain = registrableDomain !== undefined && registrableDomain !== name;
  return {
    tld: publicSuffix,
    is_subdomain: isSubdomain,
    parent_domain: isSubdomain ? registrableDomain : null,
  };
}

const NO_MAIL: Readonly<Record<NoMailReason, readonly Signal[]>> = {
  noMx: ["no_mx_records"],
  nullMx: ["no_mx_records", "null_mx"],
  implicitMx: ["no_mx_records", "implicit_mx"],
  unresolvable: ["mx_unresolvable"],
  specialUse: ["special_use_domain"],
};

function mailEvidence(mail: MailHosts): readonly Evidence[] {
  if (mail.kind === "unknown") return [evidence("dns_indeterminate")];
  if (mail.kind === "hosts" && !mail.implicit) return NO_EVIDENCE;
  const signals = NO_MAIL[mail.kind === "hosts" ? "implicitMx" : mail.why];
  return signals.map((signal) => evidence(signal));
}

/** A role local part, with or without a detail behind "+" (RFC 5233). */
function isRole(address: Address, { roles }: Datasets): boolean {
  return roles.has(subAddress(mailboxUser(address)).user);
}
