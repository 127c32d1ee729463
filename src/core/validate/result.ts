import type { PremiumFields } from "../checks/registry.ts";
import type { Signal } from "../evidence/signals.ts";

/** How the name sits in the public suffix list, ICANN section (publicsuffix.org). */
export interface DomainInfo {
  /** The public suffix without a leading dot: "co.uk". */
  readonly tld: string;
  readonly is_subdomain: boolean;
  readonly parent_domain: string | null;
}

/** The API's validation result; keys are made and sent in this order. */
export interface ValidationResult {
  /** When false, only the fields that are not optional are there. */
  readonly format: boolean;
  /** Lower-case A-labels; never blank, "invalid" when nothing printable is left of a malformed input. */
  readonly domain: string;
  readonly disposable: boolean;
  /** At least one usable mail host. Also false if DNS did not answer: see `dns_indeterminate`. */
  readonly dns: boolean;
  /** How sure the verdict "disposable" is: 0 nothing found, 100 an exact hit on a curated list. */
  readonly confidence: number;
  readonly whitelist: boolean;
  /** Most important first, at most 20. */
  readonly signals: readonly Signal[];
  /** With `typo_domain`: the address (or domain) with the provider's domain. */
  readonly did_you_mean?: string;
  /** Absent when `format` is false. */
  readonly domain_info?: DomainInfo;
  /** The usable mail hosts in preference order, at most 20; exactly when `dns` is true. */
  readonly mx_info?: readonly string[];
  /** A role address (info@, sales@); always false for a domain. */
  readonly role: boolean;
  readonly free: boolean;
  /** A sub-address or a relay's alias; address checks only. */
  readonly alias?: boolean;
}

export type FullResult = ValidationResult & PremiumFields;

/** DNS did not answer, so its mail DNS is unknown. */
export const isInconclusive = ({ signals }: Pick<ValidationResult, "signals">): boolean =>
  signals.includes("dns_indeterminate");
