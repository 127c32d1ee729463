import { PREMIUM_SCHEMAS } from "../core/checks/registry.ts";
import { oneOf, type Schema, strict, Type } from "../core/json-schema.ts";
import { RESULT_FIELDS } from "../core/validate/result.ts";

/** What the API sends, for `/openapi.json`. */

const text = (description: string) => Type.String({ description });
const count = (description: string, more: object = {}) =>
  Type.Integer({ description, minimum: 0, ...more });
const list = (description: string, more: object = {}) =>
  Type.Array(Type.String(), { description, ...more });
/** The validation result with everything that may stand in it, in the order it is sent. */
export const ResultSchema = Type.Object(
  {
    ...RESULT_FIELDS,
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

export const component = (name: string): Schema =>
  Type.Unsafe<unknown>({ $ref: `#/components/schemas/${name}` });

const session = Type.String({
  pattern: "^[0-9a-f]{32}$",
  description: "For `/api/view/{session}`; expires 15 minutes after the results are created.",
});

const counters = {
  total: count("Entries submitted, before de-duplication."),
  unique: count(
    "Distinct entries: `invalid_format` + `invalid_dns` + `disposable` + `valid`, always.",
  ),
  invalid_format: count("Entries with invalid format."),
  invalid_dns: count(
    "Entries that are not disposable and have `dns` false, inconclusive ones too.",
  ),
  disposable: count("Entries detected as disposable."),
  valid: count("The entries that the view endpoint lists."),
};

const closed = <F extends Parameters<typeof Type.Object>[0]>(description: string, fields: F) =>
  Type.Object(fields, { ...strict, description });

const BulkSummary = closed("Bulk summary.", { ...counters, session });

const resultsOf = (name: string) => ({
  session,
  stats: BulkSummary,
  results: Type.Record(component(name), {
    description: "By submitted spelling, in submission order.",
  }),
});

const noted = {
  ...ResultSchema.properties,
  code: Type.Optional(
    text(
      "Why the format is bad, such as `two_ats`; `lost_at` where the at sign is missing; among addresses `bare_domain` for domains.",
    ),
  ),
  message: Type.Optional(text("The same for people.")),
};

export const SCHEMAS = {
  Result: ResultSchema,
  Error: ErrorSchema,
  BulkSummary,
  BulkResults: closed("The summary with the result of every entry.", resultsOf("Result")),
  NotedResult: Type.Object(noted, {
    ...strict,
    required: ResultSchema.required,
    description: "A result, and why its format is bad.",
  }),
  SessionResults: closed(
    "The summary with the result of every entry of a session.",
    resultsOf("NotedResult"),
  ),
  Queued: closed("The batch is queued; ask `/api/view/{session}` for it.", {
    session,
    status: Type.Literal("pending"),
    email_count: count("Unique entries in the job."),
    estimated_seconds: Type.Integer({ minimum: 1, description: "Until it is done, roughly." }),
  }),
  Progress: closed("How far a job is.", {
    session,
    status: oneOf(["pending", "processing", "failed", "completed"], "`completed` in events only."),
    email_count: count("Unique entries in the job."),
    processed_count: Type.Optional(count("Entries answered, from `processing` on; never falls.")),
  }),
  Completed: closed("A finished batch without a valid entry.", {
    session,
    status: Type.Literal("completed"),
    email_count: count("Unique entries."),
    processed_count: count("The same."),
    ...counters,
  }),
  Removed: closed("The session is gone.", { session, deleted: Type.Literal(true) }),
};
