import type { CheckDeps, CheckedSubject } from "../../src/core/checks/check.ts";
import type { Feature, PremiumFields } from "../../src/core/checks/registry.ts";
import { type CheckResults, runChecks } from "../../src/core/checks/run.ts";
import { parseDomain, type Domain } from "../../src/core/name/domain.ts";
import type { Lookup } from "../../src/core/mail/lookup.ts";
import { findMailHosts } from "../../src/core/mail/mail-hosts.ts";
import { literalDatasets } from "../lists/literal-datasets.ts";
import { type Zone, zoneLookup } from "../dns/zone-lookup.ts";

export function domainOf(name: string): Domain {
  const parsed = parseDomain(name);
  if (!parsed.ok) throw new Error(`no domain: ${name}`);
  return parsed.value;
}

/** 2026-11-20T12:00:00Z. */
export const NOW_MS = Date.UTC(2026, 10, 20, 12);

export function checkDeps(lookup: Lookup, more: Partial<CheckDeps> = {}): CheckDeps {
  const datasets = literalDatasets();
  return { lookup, within: () => lookup, datasets, nowMs: NOW_MS, implicitMx: false, ...more };
}

export interface Checked extends CheckResults {
  /** What the checks asked beyond the core's own questions: "txt _dmarc.shop.example". */
  readonly asked: readonly string[];
}

/** Runs checks on one domain of a zone, with the mail hosts that the core would have found. */
export async function checkIn(
  zone: Zone,
  name: string,
  features: readonly Feature[],
): Promise<Checked> {
  const domain = domainOf(name);
  const mail = await findMailHosts(domain.name, zoneLookup(zone), false);
  const subject: CheckedSubject = { domain, mail };
  const lookup = zoneLookup(zone);
  const results = await runChecks({ features, spamTrap: false }, subject, checkDeps(lookup));
  return { ...results, asked: lookup.asked };
}

/** The fields of `checkIn`; "unavailable" when a check could not finish. */
export async function fieldsIn(
  zone: Zone,
  name: string,
  features: readonly Feature[],
): Promise<PremiumFields | "unavailable"> {
  const { fields, unavailable } = await checkIn(zone, name, features);
  return unavailable.length > 0 ? "unavailable" : fields;
}
