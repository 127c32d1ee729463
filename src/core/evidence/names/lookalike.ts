import { type Domain, isAtOrUnder } from "../../name/domain.ts";
import { type Evidence, evidence } from "../signals.ts";
import { BRANDS, type BrandRow } from "../../tables/brands.ts";

/** Where the brand stands in `name` before `end` as a word of its own; negative when nowhere. */
function brandAt(name: string, end: number, { word, notAfter }: BrandRow): number {
  let at = name.indexOf(word);
  while (at >= 0 && at + word.length <= end) {
    const before = name.slice(0, at);
    if (!notAfter.some((ending) => before.endsWith(ending))) return at;
    at = name.indexOf(word, at + word.length);
  }
  return -1;
}

/** `lookalike_provider` when a brand stands left of the public suffix of a name that is not its owner's. */
export function lookalikeEvidence(domain: Domain): Evidence | undefined {
  const { name, publicSuffix, registrableDomain } = domain;
  const end = name.length - publicSuffix.length;
  for (const brand of BRANDS) {
    if (brandAt(name, end, brand) < 0) continue;
    if (brand.own.some((own) => isAtOrUnder(name, own))) continue;
    if (brand.honest.includes(registrableDomain ?? name)) continue;
    return evidence("lookalike_provider", { subject: brand.provider });
  }
  return undefined;
}
