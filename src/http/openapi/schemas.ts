import { SIGNALS } from "../../core/evidence/signals.ts";
import { Type } from "./json-schema.ts";

/** What the API sends, for `/openapi.json`; a test holds the schemas against the core's types. */

const text = (description: string) => Type.String({ description });
const flag = (description: string) => Type.Boolean({ description });
const count = (description: string, maximum?: number) =>
  Type.Integer({ description, minimum: 0, ...(maximum === undefined ? {} : { maximum }) });
const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number]>({ type: "string", enum: values, description });
const list = (description: string, maxItems?: number) =>
  Type.Array(Type.String(), { description, ...(maxItems === undefined ? {} : { maxItems }) });
const strict = { additionalProperties: false } as const;

const signalNames = Object.keys(SIGNALS).filter(isSignal);

function isSignal(name: string): name is keyof typeof SIGNALS {
  return Object.hasOwn(SIGNALS, name);
}

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

const SpamTrap = Type.Object(
  {
    is_trap: flag("False does not prove that an address is safe."),
    type: Type.Union(
      [
        oneOf(["typo", "honeypot", "listed", "recycled", "pristine"], "Which kind of trap."),
        Type.Null(),
      ],
      { description: "Null when it is none." },
    ),
    reason: Type.Union([Type.String(), Type.Null()], { description: "Null when it is none." }),
  },
  { ...strict, description: "Added by itself where the plan includes it." },
);

const Dmarc = Type.Object(
  {
    policy: oneOf(
      ["none", "quarantine", "reject"],
      "As it applies to the asked domain (RFC 9989); `none` alone when nothing is published.",
    ),
    record: Type.Optional(text("The record, cut at 4,096 characters.")),
    subdomain_policy: Type.Optional(text("The policy for sub-domains.")),
    pct: Type.Optional(count("As published, else 100.", 100)),
    rua: Type.Optional(text("Where aggregate reports go, cut at 4,096 characters.")),
  },
  strict,
);

const EmailAuth = Type.Object(
  {
    spf: Type.Optional(
      oneOf(
        ["pass", "neutral", "softfail", "hardfail", "none"],
        "The `all` policy of the effective SPF record (feature `spf`).",
      ),
    ),
    spf_record: Type.Optional(text("The domain's own record, cut at 4,096 characters.")),
    dmarc: Type.Optional(Dmarc),
    dkim_configured: Type.Optional(
      flag(
        "Whether keys were found at the selectors probed (feature `dkim`); false does not exclude others.",
      ),
    ),
    dkim_selectors_found: Type.Optional(list("Lower case, in probe order.")),
  },
  { ...strict, description: "Features `spf`, `dkim` and `dmarc`." },
);

const DomainAge = Type.Object(
  {
    registered: Type.String({ format: "date", description: "YYYY-MM-DD, UTC." }),
    age_days: count("Whole days since then."),
    fresh: flag("Younger than 30 days."),
  },
  { ...strict, description: "Feature `domain_age`; absent when the registry gave no answer." },
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
    signals: Type.Array(oneOf(signalNames, "Name (weight): meaning."), {
      maxItems: 20,
      description: `The evidence, most important first:\n${signalMeanings}`,
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
    spam_trap: Type.Optional(SpamTrap),
    email_auth: Type.Optional(EmailAuth),
    domain_age: Type.Optional(DomainAge),
    inbox_provider: Type.Optional(text("By MX, or by SPF behind a gateway (`inbox_provider`).")),
    deliverability_score: Type.Optional(
      count(
        "Of the mail set-up (`deliverability`); neither a probability nor a mailbox test.",
        100,
      ),
    ),
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
