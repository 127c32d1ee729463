import type { Check, Feature, PremiumFields } from "./check.ts";
import { deliverability } from "./deliverability.ts";
import { dkim } from "./dkim.ts";
import { dmarc } from "./dmarc.ts";
import { domainAge } from "./domain-age.ts";
import { inboxProvider } from "./inbox-provider.ts";
import { spf } from "./spf.ts";

/**
 * Every check by its feature's name, in the order they start: each may wait for those before it. SPF, DMARC
 * and DKIM stand in the order of their fields; the age comes late, so that nobody but the score waits for a registry.
 */
export const CHECKS: ReadonlyMap<Feature, Check<PremiumFields>> = new Map<
  Feature,
  Check<PremiumFields>
>([
  ["spf", spf],
  ["dmarc", dmarc],
  ["inbox_provider", inboxProvider],
  ["dkim", dkim],
  ["domain_age", domainAge],
  ["deliverability", deliverability],
]);
