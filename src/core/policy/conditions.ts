import {
  type Domain,
  parseDomain,
  parseMailHost,
  registrableOf,
  selfAndParents,
} from "../name/domain.ts";
import { SIGNALS, type Signal } from "../evidence/signals.ts";
import { MAIL_KINDS, mailKindOf } from "../mail/mail-hosts.ts";
import {
  type CallerFact,
  type CheckFacts,
  type CountWindow,
  type Facts,
  type FactSource,
  type FeedbackNumber,
  largestCount,
  type TrafficFlag,
  type TrafficNumber,
  VERIFIED,
} from "./policy.ts";
import { isReservedName } from "../reserved-name.ts";
import { canonicalAddress } from "../evidence/alias.ts";
import { SMS_GATEWAYS } from "../tables/data.ts";
import type { Datasets } from "../evidence/datasets.ts";
import type { Entry } from "../address/address.ts";
import type { Validation } from "../validate/validate.ts";

export function policyFacts(
  { entry, result, mail }: Pick<Validation, "entry" | "result" | "mail">,
  datasets: Pick<Datasets, "operator">,
): CheckFacts {
  const has = (signal: Signal): boolean => result.signals.includes(signal);
  const hosts = mail?.kind === "hosts" ? mail.hosts : [];
  const isAllowed = has("operator_allow");
  const domain = entry.kind === "malformed" ? undefined : entry.domain;
  const kind = domain && mail && mailKindOf(domain, mail);
  const { domain_age: age } = result;
  return {
    format: result.format,
    disposable: result.disposable,
    role: result.role,
    free: result.free,
    alias: result.alias === true,
    relay: has("privacy_relay"),
    typo: has("typo_domain") || has("typo_local_part"),
    sms_gateway: domain !== undefined && isSmsGateway(domain),
    whitelist: result.whitelist,
    allowed: isAllowed,
    denied: !isAllowed && isDenied(entry, hosts, datasets),
    dns: has("dns_indeterminate") ? "unknown" : result.dns ? "yes" : "no",
    confidence: result.confidence,
    signals: result.signals,
    domain: result.domain,
    mx: [...new Set(hosts.flatMap((host) => [host, registrableOf(host) ?? host]))],
    ...namesOf(domain),
    ...(age !== undefined && { fresh: age.fresh, age_days: age.age_days }),
    ...(kind !== undefined && { mail_kind: kind }),
  };
}

function namesOf(domain: Domain | undefined): Pick<CheckFacts, "tld" | "registrable_domain"> {
  if (domain === undefined) return {};
  const { publicSuffix: tld, registrableDomain } = domain;
  return { tld, ...(registrableDomain !== undefined && { registrable_domain: registrableDomain }) };
}

function isSmsGateway({ name, registrableDomain }: Domain): boolean {
  for (const above of selfAndParents(name, registrableDomain)) {
    if (SMS_GATEWAYS.has(above)) return true;
  }
  return false;
}

function isDenied(
  entry: Entry,
  hosts: readonly string[],
  { operator }: Pick<Datasets, "operator">,
): boolean {
  if (entry.kind === "malformed") return false;
  if (operator.domain(entry.domain.name) === "deny") return true;
  const ofAddress =
    entry.kind === "address" ? operator.address(canonicalAddress(entry.address)) : undefined;
  if (ofAddress === "deny") return true;
  return hosts.some((host) => operator.mailHost(host) === "deny");
}

type Holds = (facts: Facts) => boolean;

export interface Condition {
  readonly holds: Holds;
  /** Absent: the fact is known as soon as the entry and the lists are read. */
  readonly from: FactSource | undefined;
  readonly isFinal: Holds;
}

export function isUndecided(
  conditions: readonly Condition[],
  facts: Facts,
  missing: ReadonlySet<FactSource>,
): boolean {
  let isUndecided = false;
  for (const { holds, from, isFinal } of conditions) {
    if (from !== undefined && missing.has(from) && !isFinal(facts)) isUndecided = true;
    else if (!holds(facts)) return false;
  }
  return isUndecided;
}

export interface Wrong {
  readonly at: string;
  readonly wrong: string;
}

type ReadCondition = (value: unknown, name: string) => Holds | Wrong;

type Test<T> = (fact: T) => boolean;

const ITEMS_MAX = 200;

const wrong = (at: string, text: string): Wrong => ({ at, wrong: text });

/** As JSON writes it, cut so that an error stays one readable line. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

type ItemReader<T> = (item: unknown) => Test<T> | string;

function passes<T>(tests: readonly Test<T>[], fact: T): boolean {
  for (const test of tests) if (test(fact)) return true;
  return false;
}

const one = <T>(item: ItemReader<T>, get: (facts: Facts) => T | undefined): ReadCondition =>
  conditionOf(item, (facts, tests) => {
    const fact = get(facts);
    return fact !== undefined && passes(tests, fact);
  });

const anyOf = <T>(item: ItemReader<T>, get: (facts: Facts) => readonly T[]): ReadCondition =>
  conditionOf(item, (facts, tests) => {
    for (const fact of get(facts)) if (passes(tests, fact)) return true;
    return false;
  });

function conditionOf<T>(
  item: ItemReader<T>,
  holds: (facts: Facts, tests: readonly Test<T>[]) => boolean,
): ReadCondition {
  return (value) => {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (items.length === 0) return wrong("", "the array is empty");
    if (items.length > ITEMS_MAX) {
      return wrong("", `${String(items.length)} items are more than ${String(ITEMS_MAX)}`);
    }
    const tests: Test<T>[] = [];
    for (const [at, each] of items.entries()) {
      const test = item(each);
      if (typeof test === "string")
        return wrong(Array.isArray(value) ? `[${String(at)}]` : "", test);
      tests.push(test);
    }
    return (facts) => holds(facts, tests);
  };
}

const isOneOf =
  <T>(words: readonly T[]): ItemReader<T> =>
  (item) =>
    words.some((word) => word === item)
      ? (fact) => fact === item
      : `${quoted(item)} is not one of ${words.join(", ")}`;

const isTrueOrFalse = isOneOf([true, false]);

const isBounded: ItemReader<number> = (item) =>
  boundsOf(item) ?? `${quoted(item)} is not {"gte": n}, {"lt": n} or both`;

function boundsOf(item: unknown): Test<number> | string | undefined {
  if (typeof item !== "object" || item === null || Array.isArray(item)) return undefined;
  const entries = Object.entries(item);
  const isFine = entries.every(([name, n]) => /^(?:gte|lt)$/.test(name) && Number.isFinite(n));
  if (entries.length === 0 || !isFine) return undefined;
  const { gte = -Infinity, lt = Infinity } = item as {
    readonly gte?: number;
    readonly lt?: number;
  };
  if (gte >= lt) return `${quoted(item)} holds for no number`;
  return (fact) => fact >= gte && fact < lt;
}

const isSignal: ItemReader<string> = (item) =>
  typeof item === "string" && Object.hasOwn(SIGNALS, item)
    ? (fact) => fact === item
    : `${quoted(item)} is not a signal`;

function nameTest(
  item: unknown,
  isFit: (name: string) => string | undefined,
): Test<string> | string {
  const text = typeof item === "string" ? item.trim().toLowerCase() : "";
  const isSuffix = text.startsWith("*.");
  const name = isFit(isSuffix ? text.slice(2) : text);
  if (name === undefined) return `${quoted(item)} is not a domain or *.suffix`;
  return isSuffix ? (fact) => fact.endsWith(`.${name}`) : (fact) => fact === name;
}

function domainName(text: string): string | undefined {
  const parsed = parseDomain(text);
  return parsed.ok ? parsed.value.name : undefined;
}

const isDomain: ItemReader<string> = (item) => nameTest(item, domainName);

/** Public suffixes have one label or several, which is why they are not read as domains. */
function suffixName(text: string): string | undefined {
  const name = text.replace(/^\./, "");
  if (name.includes(".")) return domainName(name);
  return domainName(`x.${name}`)?.slice(2);
}

/** A suffix with "*." before it is one whose last labels are these: "*.uk" holds for "co.uk". */
const isTld: ItemReader<string> = (item) => nameTest(item, suffixName);

/** A suffix such as "*.google.com" may be a single label too: "*.ru" as domain. */
const isDomainOrTld: ItemReader<string> = (item) =>
  typeof item === "string" && item.startsWith("*.") ? nameTest(item, suffixName) : isDomain(item);

const isMailHostName: ItemReader<string> = (item) =>
  nameTest(item, (text) => {
    const parsed = parseMailHost(text);
    return parsed.ok && !parsed.value.includes("*") ? parsed.value : undefined;
  });

const CALLER_NAME = /^caller\.([a-z_]{1,32})$/;

const isCallerValue: ItemReader<CallerFact> = (item) => {
  if (typeof item === "string" && item.includes("*"))
    return `${quoted(item)}: * has no meaning here`;
  if (typeof item === "string" || typeof item === "boolean" || Number.isFinite(item)) {
    return (fact) => fact === item;
  }
  const bounds = boundsOf(item);
  if (bounds === undefined) return `${quoted(item)} is not text, a number, a boolean or {"gte": n}`;
  if (typeof bounds === "string") return bounds;
  return (fact) => typeof fact === "number" && bounds(fact);
};

const callerFact: ReadCondition = (value, name) => {
  const [, fact = ""] = CALLER_NAME.exec(name) ?? [];
  return one(isCallerValue, ({ caller }) => caller.get(fact))(value, name);
};

const COUNT_NAME = /^count(?:\.([a-z]{1,16}))?[_](10m|day|30d)$/;

/** "count.ip_day": of one name; "count_day": the largest of all. */
const countFact: ReadCondition = (value, name) => {
  const [, of, window] = COUNT_NAME.exec(name) ?? [];
  const get = ({ counts }: Facts): number | undefined =>
    counts &&
    (of === undefined
      ? largestCount(counts, window as CountWindow)
      : counts[of]?.[window as CountWindow]);
  return one(isBounded, get)(value, name);
};

interface FactRow {
  readonly read: ReadCondition;
  readonly reason?: string | undefined;
  /** Absent: known without DNS. */
  readonly from?: FactSource;
  /** When what lists say is the last word on a condition of this `value`, because DNS only adds to it. */
  readonly isFinal?: (checked: CheckFacts, value: unknown) => boolean;
}

type CheckFlag = {
  readonly [Name in keyof CheckFacts]-?: CheckFacts[Name] extends boolean | undefined
    ? Name
    : never;
}[keyof CheckFacts];

const flag = (name: CheckFlag, reason?: string): FactRow => ({
  read: one(isTrueOrFalse, ({ checked }) => checked[name]),
  reason,
});

const dnsFlag = (name: CheckFlag, reason?: string): FactRow => ({
  ...flag(name, reason),
  from: "dns",
});

/** DNS may show that the flag is set, never that it is not. */
const growingFlag = (name: CheckFlag, reason?: string): FactRow => ({
  ...dnsFlag(name, reason),
  isFinal: (checked) => checked[name] === true,
});

const counted = (name: TrafficNumber, reason: string): FactRow => ({
  read: one(isBounded, ({ traffic }) => traffic?.[name]),
  from: "account",
  reason,
});

const reported = (name: FeedbackNumber, reason: string): FactRow => ({
  read: one(isBounded, ({ feedback }) => feedback?.[name]),
  from: "account",
  reason,
});

const trafficFlag = (name: TrafficFlag, reason?: string): FactRow => ({
  read: one(isTrueOrFalse, ({ traffic }) => traffic?.[name]),
  from: "account",
  reason,
});

/** DNS raises the confidence, and never lowers it. */
function isConfidenceFinal({ confidence }: CheckFacts, value: unknown): boolean {
  const { gte = -Infinity, lt = Infinity } = value as {
    readonly gte?: number;
    readonly lt?: number;
  };
  return confidence >= (lt === Infinity ? gte : lt);
}

/** DNS adds signals; it takes back only that it did not answer. */
function isSignalFinal({ signals }: CheckFacts, value: unknown): boolean {
  const wanted: readonly unknown[] = Array.isArray(value) ? value : [value];
  return signals.some((signal) => signal !== "dns_indeterminate" && wanted.includes(signal));
}

const FACTS: Readonly<Record<string, FactRow>> = {
  format: flag("format", "format"),
  disposable: growingFlag("disposable", "disposable"),
  role: flag("role", "role"),
  free: flag("free", "free"),
  alias: dnsFlag("alias", "alias"),
  relay: growingFlag("relay", "relay"),
  typo: flag("typo", "typo"),
  sms_gateway: flag("sms_gateway", "sms_gateway"),
  fresh: dnsFlag("fresh", "fresh_domain"),
  whitelist: flag("whitelist"),
  allowed: flag("allowed", "allowed"),
  denied: growingFlag("denied", "denied"),
  dns: {
    read: one(isOneOf(["yes", "no", "unknown"]), ({ checked }) => checked.dns),
    reason: "no_mail_server",
    from: "dns",
    isFinal: ({ dns }) => dns !== "unknown",
  },
  confidence: {
    read: one(isBounded, ({ checked }) => checked.confidence),
    reason: "disposable",
    from: "dns",
    isFinal: isConfidenceFinal,
  },
  age_days: {
    read: one(isBounded, ({ checked }) => checked.age_days),
    reason: "fresh_domain",
    from: "dns",
  },
  mailbox_seen: counted("mailbox_seen", "repeated_mailbox"),
  domain_mailboxes: counted("domain_mailboxes", "burst"),
  sub_names: counted("sub_names", "burst"),
  domain_known_days: counted("domain_known_days", "burst"),
  mx_new_domains: counted("mx_new_domains", "burst"),
  mailbox_abused: reported("mailbox_abused", "abuse"),
  domain_abused: reported("domain_abused", "abuse"),
  mailbox_bounced: reported("mailbox_bounced", "bounced"),
  mailbox_complained: reported("mailbox_complained", "complained"),
  domain_bounced: reported("domain_bounced", "bounced"),
  sent_10m: counted("sent_10m", "too_often"),
  sent_day: counted("sent_day", "too_often"),
  sent_known: trafficFlag("sent_known"),
  wave: trafficFlag("wave", "wave"),
  shape_wave: trafficFlag("shape_wave", "burst"),
  mail_kind: {
    read: one(isOneOf(MAIL_KINDS), ({ checked }) => checked.mail_kind),
    from: "dns",
  },
  signals: {
    read: anyOf(isSignal, ({ checked }) => checked.signals),
    from: "dns",
    isFinal: isSignalFinal,
  },
  domain: { read: one(isDomainOrTld, ({ checked }) => checked.domain) },
  registrable_domain: {
    read: one(isDomainOrTld, ({ checked }) => checked.registrable_domain),
  },
  verified: { read: one(isOneOf(VERIFIED), ({ verified }) => verified) },
  tld: { read: one(isTld, ({ checked }) => checked.tld) },
  mx: { read: anyOf(isMailHostName, ({ checked }) => checked.mx), from: "dns" },
};

const COUNT_ROW: FactRow = { read: countFact, from: "account", reason: "many" };
const CALLER_ROW: FactRow = { read: callerFact, reason: "caller" };

const rowOf = (name: string): FactRow | undefined => {
  const [, fact] = CALLER_NAME.exec(name) ?? [];
  if (fact !== undefined) return isReservedName(fact) ? undefined : CALLER_ROW;
  if (COUNT_NAME.test(name)) return COUNT_ROW;
  return Object.hasOwn(FACTS, name) ? FACTS[name] : undefined;
};

/** Undefined unless the name is a fact. */
export function readCondition(name: string, value: unknown): Condition | Wrong | undefined {
  const row = rowOf(name);
  const holds = row?.read(value, name);
  if (row === undefined || typeof holds !== "function") return holds as Wrong | undefined;
  const { from, isFinal } = row;
  return { holds, from, isFinal: ({ checked }) => isFinal?.(checked, value) === true };
}

export const FACT_NAMES: readonly string[] = [
  ...Object.keys(FACTS),
  "count_10m",
  "count_day",
  "count_30d",
];

/** What a condition is about: the fact's name; for `signals` each "signals.NAME" that it lists. */
export function subjectsOf(name: string, value: unknown): readonly string[] {
  if (name !== "signals") return [name];
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.map((item) => `signals.${String(item)}`);
}

export function reasonOfCondition(name: string, value: unknown): string | undefined {
  return name === "dns" && value === "unknown" ? "unknown" : rowOf(name)?.reason;
}
