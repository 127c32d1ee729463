import { type Signal, SIGNALS } from "../../core/evidence/signals.ts";
import { PREMIUM_SCHEMAS } from "../../core/checks/registry.ts";
import { strict, Type } from "../../core/json-schema.ts";

/** What the API sends, for `/openapi.json`; a test holds the schemas against the core's types. */

const text = (description: string) => Type.String({ description });
const flag = (description: string) => Type.Boolean({ description });
const count = (description: string, maximum?: number) =>
  Type.Integer({ description, minimum: 0, ...(maximum === undefined ? {} : { maximum }) });
const list = (description: string, maxItems?: number) =>
  Type.Array(Type.String(), { description, ...(maxItems === undefined ? {} : { maxItems }) });
const signalMeanings = Object.entries(SIGNALS)
  .map(([name, { weight, means }]) => `- \`${name}\` (${weight.toFixed(2)}): ${means}`)
  .join("\n");

const DomainInfo = Type.Object(
  {
    tld: text('The public suffix (ICANN section) without a leading dot: "co.uk".'),
    is_subdomain: flag("Whether labels stand left of the registrable domain."),
    parent_domain: Type.Union([Type.String(), Type.Null()], {
      description: "The registrable domain when `is_subdomain`, else null.",
    }),
  },
  { ...strict, description: "How the name sits in the public suffix list." },
);

/** The validation result with everything that may stand in it, in the order it is sent. */
export const ResultSchema = Type.Object(
  {
    format: flag("Whether the input has a valid format. Check it first."),
    domain: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'The domain evaluated: lower-case A-labels, never blank; "invalid" at worst.',
    }),
    disposable: flag("The verdict, derived from the signals: `confidence` of 50 or more."),
    dns: flag(
      "Whether a usable mail host exists. False too with `dns_indeterminate`: retry later.",
    ),
    confidence: count("How sure `disposable` is; 100 is an exact hit on a curated list.", 100),
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
      list("The usable mail hosts in preference order; exactly when `dns` is true.", 20),
    ),
    role: flag("A role address such as info@; always false for a domain."),
    free: flag("The domain is a free mail provider."),
    alias: Type.Optional(flag("A sub-address or a relay's alias; email checks only.")),
    ...PREMIUM_SCHEMAS,
    requires_upgrade: Type.Optional(list("Asked features that the plan does not include.")),
    upgrade_url: Type.Optional(text("The pricing page; with `requires_upgrade`.")),
    upgrade_message: Type.Optional(text("For people; with `requires_upgrade`.")),
    unsupported_features: Type.Optional(list("Asked features on no plan: `smtp`, `catch_all`.")),
    temporarily_unavailable_features: Type.Optional(
      list("Asked checks that could not finish: retry later."),
    ),
  },
  { ...strict, description: "Validation result. With `format` false, optional fields are absent." },
);

export const ErrorSchema = Type.Object(
  {
    error: Type.String({ minLength: 1, description: "What went wrong, for people." }),
    retry_after: Type.Optional(count("Seconds; with the rate refusal of a single check.")),
    reset_at: Type.Optional(
      Type.String({
        format: "date-time",
        description: "With the quota refusal of a single check.",
      }),
    ),
  },
  strict,
);
