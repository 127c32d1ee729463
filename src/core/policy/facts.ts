import { canonicalAddress } from "../evidence/alias.ts";
import type { Datasets } from "../evidence/datasets.ts";
import type { Signal } from "../evidence/signals.ts";
import type { Entry } from "../address/entry.ts";
import type { Domain } from "../name/domain.ts";
import type { Validation } from "../validate/validate.ts";
import { mailKindOf } from "../mail/mail-carriers.ts";
import { mailNames } from "./conditions.ts";
import type { Facts, TrafficFacts } from "./policy.ts";

type Checked = Pick<Validation, "entry" | "result" | "mail">;

/** What a check says of an entry; the caller's own facts and those of the account's traffic are added. */
export type CheckFacts = Omit<Facts, keyof TrafficFacts | "caller">;

export function factsOf(
  { entry, result, mail }: Checked,
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
    typo: has("typo_domain"),
    whitelist: result.whitelist,
    allowed: isAllowed,
    denied: !isAllowed && isDenied(entry, hosts, datasets),
    dns: has("dns_indeterminate") ? "unknown" : result.dns ? "yes" : "no",
    confidence: result.confidence,
    signals: result.signals,
    domain: result.domain,
    mx: mailNames(hosts),
    ...namesOf(domain),
    ...(age !== undefined && { fresh: age.fresh, age_days: age.age_days }),
    ...(kind !== undefined && { mail_kind: kind }),
  };
}

function namesOf(domain: Domain | undefined): Pick<Facts, "tld" | "registrable_domain"> {
  if (domain === undefined) return {};
  const { publicSuffix: tld, registrableDomain } = domain;
  return { tld, ...(registrableDomain !== undefined && { registrable_domain: registrableDomain }) };
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
