import type { Check, Feature, PremiumFields } from "./check.ts";
import { deliverability } from "./deliverability.ts";
import { dkim } from "./dkim.ts";
import { dmarc } from "./dmarc.ts";
import { domainAge } from "./domain-age.ts";
import { inboxProvider } from "./inbox-provider.ts";
import { spf } from "./spf.ts";

/**
 * Every check by its feature's name, in the order they start: each may build on those before it. SPF, DMARC
 * and DKIM stand in the order of their fields.
 */
export const CHECKS: ReadonlyMap<Feature, Check<PremiumFields>> = new Map<
  Feature,
  Check<PremiumFields>
>([
  ["spf", spf],
  ["dmarc", dmarc],
  ["domain_age", domainAge],
  ["inbox_provider", inboxProvider],
  ["dkim", dkim],
  ["deliverability", deliverability],
]);
