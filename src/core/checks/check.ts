import type { Address } from "../address/address.ts";
import type { Datasets, OperatorTrap } from "../evidence/datasets.ts";
import type { Domain } from "../name/domain.ts";
import type { PremiumLookup } from "../mail/lookup.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";

/** What a client may ask for by name, in the contract's order. */
export const FEATURES = [
  "spf",
  "dkim",
  "dmarc",
  "domain_age",
  "inbox_provider",
  "deliverability",
] as const;
export type Feature = (typeof FEATURES)[number];

/** The API's words for the `all` qualifier; RFC 7208 says "fail" where the API says "hardfail". */
export type SpfSummary = "pass" | "neutral" | "softfail" | "hardfail" | "none";

export interface DmarcFields {
  readonly policy: "none" | "quarantine" | "reject";
  readonly record?: string;
  readonly subdomain_policy?: string;
  readonly pct?: number;
  readonly rua?: string;
}

export interface EmailAuth {
  readonly spf?: SpfSummary;
  readonly spf_record?: string;
  readonly dmarc?: DmarcFields;
  readonly dkim_configured?: boolean;
  readonly dkim_selectors_found?: readonly string[];
}

export interface DomainAge {
  /** YYYY-MM-DD, UTC. */
  readonly registered: string;
  readonly age_days: number;
  /** Younger than 30 days. */
  readonly fresh: boolean;
}

export interface SpamTrap {
  readonly is_trap: boolean;
  readonly type: "typo" | "honeypot" | OperatorTrap | null;
  readonly reason: string | null;
}

/** The premium part of a result; keys are made and sent in this order. */
export interface PremiumFields {
  readonly spam_trap?: SpamTrap;
  readonly email_auth?: EmailAuth;
  readonly domain_age?: DomainAge;
  readonly inbox_provider?: string;
  readonly deliverability_score?: number;
}

/** What a check judges: a parsed domain, with the address when one was given, and its mail hosts. */
export interface Subject {
  readonly domain: Domain;
  readonly address?: Address;
  readonly mail: MailHosts;
}

export interface CheckDeps extends PremiumLookup {
  readonly datasets: Datasets;
  readonly nowMs: number;
  /** GATEPOST_IMPLICIT_MX: an address record alone counts as a mail server. */
  readonly implicitMx: boolean;
}

/** `unavailable`: a lookup could not finish. `nothing`: it finished, and there is no field to send. */
export type Outcome<Fields> =
  | { readonly kind: "done"; readonly fields: Fields }
  | { readonly kind: "nothing" }
  | { readonly kind: "unavailable" };

/** What a check sees while it runs: the world, and the checks before it in `CHECKS` of the same request. */
export interface CheckRun extends CheckDeps {
  /** What the asked checks before this one came to, once all of them have ended. */
  readonly obtained: () => Promise<PremiumFields>;
  /** DNS questions this request may still ask, once the checks before this one have asked theirs. */
  readonly questionsLeft: () => Promise<number>;
}

/** One premium check: one file and one line in `registry.ts`. */
export interface Check<Fields> {
  readonly run: (subject: Subject, deps: CheckRun) => Promise<Outcome<Fields>>;
}
