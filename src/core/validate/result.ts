import type { PremiumFields } from "../checks/registry.ts";
import { type Signal, SIGNALS } from "../evidence/signals.ts";
import { type Described, type ObjectOf, orNull, Type } from "../json-schema.ts";

const text = (description: string) => Type.String({ description });
const flag = (description: string) => Type.Boolean({ description });
const signalMeanings = Object.entries(SIGNALS)
  .map(([name, { weight, means }]) => `- \`${name}\` (${weight.toFixed(2)}): ${means}`)
  .join("\n");

const DomainInfo = Type.Object(
  {
    tld: text('The public suffix (ICANN section) without a leading dot: "co.uk".'),
    is_subdomain: flag("Whether labels stand left of the registrable domain."),
    parent_domain: orNull(Type.String(), "The registrable domain when `is_subdomain`, else null."),
  },
  { description: "How the name sits in the public suffix list." },
);

/** The API's validation result; keys are made and sent in this order. When `format` is false, no optional one is there. */
export const RESULT_FIELDS = {
  format: flag("Whether the input has a valid format. Check it first."),
  domain: Type.String({
    minLength: 1,
    maxLength: 253,
    description: 'The domain evaluated: lower-case A-labels, never blank; "invalid" at worst.',
  }),
  disposable: flag("The verdict, derived from the signals: `confidence` of 50 or more."),
  dns: flag("Whether a usable mail host exists. False too with `dns_indeterminate`: retry later."),
  confidence: Type.Integer({
    description: "How sure `disposable` is; 100 is an exact hit on a curated list.",
    minimum: 0,
    maximum: 100,
  }),
  whitelist: flag("The domain is known to be good."),
  signals: Type.Array(Type.Unsafe<Signal>({ type: "string" }), {
    maxItems: 20,
    description: `The evidence, most important first; names may be added:\n${signalMeanings}`,
  }),
  did_you_mean: Type.Optional(
    text("With `typo_domain`: the whole address (or domain) with the provider's domain."),
  ),
  domain_info: Type.Optional(DomainInfo),
  mx_info: Type.Optional(
    Type.Array(Type.String(), {
      description: "The usable mail hosts in preference order; exactly when `dns` is true.",
      maxItems: 20,
    }),
  ),
  role: flag("A role address such as info@; always false for a domain."),
  free: flag("The domain is a free mail provider."),
  alias: Type.Optional(flag("A sub-address or a relay's alias; email checks only.")),
};

export type DomainInfo = Described<typeof DomainInfo>;
export type ValidationResult = ObjectOf<typeof RESULT_FIELDS>;

export type FullResult = ValidationResult & PremiumFields;

export const isInconclusive = ({ signals }: Pick<ValidationResult, "signals">): boolean =>
  signals.includes("dns_indeterminate");
