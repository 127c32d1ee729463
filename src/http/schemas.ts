import { PARTS } from "../base/health.ts";
import { PREMIUM_SCHEMAS } from "../core/checks/registry.ts";
import { BULK_STATS, FILE_FACTS } from "../bulk/jobs/bulk-shapes.ts";
import { component, Type } from "../core/json-schema.ts";
import { DecisionAnswer } from "../gate/gate-shapes.ts";
import { RESULT_FIELDS } from "../core/validate/result.ts";

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
    upgrade_url: Type.Optional(text("The page about the plan; with `requires_upgrade`.")),
    upgrade_message: Type.Optional(text("For people; with `requires_upgrade`.")),
    unsupported_features: Type.Optional(list("Asked features on no plan: `smtp`, `catch_all`.")),
    temporarily_unavailable_features: Type.Optional(
      list("Asked checks that could not finish: retry later."),
    ),
  },
  { description: "Validation result. With `format` false, optional fields are absent." },
);

export const BrokenPart = Type.Object({
  part: Type.Enum(PARTS),
  says: Type.String({ description: "A sentence: what is wrong." }),
  to_do: Type.String({ description: "A sentence: what to do." }),
  since: Type.String({ format: "date-time" }),
  stops: Type.Boolean({ description: "The service cannot do its work; `/readyz` is 503." }),
});

export const BROKEN = Type.Optional(
  Type.Array(BrokenPart, {
    description:
      "Of `/readyz`, for this machine and who may read `/metrics`; the worst comes first.",
  }),
);

export const ErrorSchema = Type.Object({
  error: Type.String({ minLength: 1, description: "What went wrong, for people." }),
  retry_after: Type.Optional(count("Seconds; with the rate refusal of a single check.")),
  reset_at: Type.Optional(
    Type.String({
      format: "date-time",
      description: "With the quota refusal of a single check.",
    }),
  ),
  broken: BROKEN,
});

const { session, ...COUNTERS } = BULK_STATS;

const BulkSummary = Type.Object(BULK_STATS, { description: "Bulk summary." });

const OPTIONAL_COUNTERS = Object.fromEntries(
  Object.entries(COUNTERS).map(([name, schema]) => [name, Type.Optional(schema)]),
);

const JOB = {
  email_count: Type.Optional(count("Unique entries; of a job.")),
  processed_count: Type.Optional(count("Entries answered, from `processing` on; never falls.")),
};

const withResults = (name: string) => ({
  stats: Type.Optional(component("BulkSummary")),
  results: Type.Optional(
    Type.Record(component(name), { description: "By submitted spelling, in submission order." }),
  ),
});

const NotedResult = Type.Object(
  {
    ...RESULT_FIELDS,
    spam_trap: PREMIUM_SCHEMAS.spam_trap,
    code: Type.Optional(
      text(
        "Why the format is bad, such as `two_ats`; `lost_at` where the at sign is missing; among addresses `bare_domain` for domains.",
      ),
    ),
    message: Type.Optional(text("The same for people.")),
  },
  { description: "A result, and why its format is bad." },
);

const status = (words: readonly string[], description: string) => Type.Enum(words, { description });

const BULK_ANSWER = {
  session,
  ...OPTIONAL_COUNTERS,
  status: Type.Optional(
    status(["pending"], "Only of a queued batch: ask `/api/view/{session}` for it."),
  ),
  email_count: JOB.email_count,
  estimated_seconds: Type.Optional(
    Type.Integer({ minimum: 1, description: "Of a queued batch: until it is done, roughly." }),
  ),
  ...withResults("Result"),
};

const SEVERAL =
  "The counters; with `json` instead `stats` and `results`; of a queued batch its `status`. Every client must expect the last.";

/** Answers that have several forms are one object here, because generated clients cannot tell unions apart. */
export const SCHEMAS = {
  Result: ResultSchema,
  Decision: DecisionAnswer,
  Error: ErrorSchema,
  BulkSummary,
  NotedResult,
  BulkAnswer: Type.Object(BULK_ANSWER, { description: SEVERAL }),
  UploadAnswer: Type.Object({ ...BULK_ANSWER, ...FILE_FACTS }, { description: SEVERAL }),
  SessionState: Type.Object(
    {
      session,
      status: status(["pending", "processing", "failed", "completed"], "Of the batch."),
      ...JOB,
      ...OPTIONAL_COUNTERS,
    },
    { description: "How far a batch is; the counters once it is completed." },
  ),
  SessionResults: Type.Object(
    {
      session,
      ...withResults("NotedResult"),
      status: Type.Optional(
        status(["pending", "processing", "failed"], "Instead of `stats` until it is done."),
      ),
      ...JOB,
    },
    { description: "The summary with the result of every entry, or how far the batch is." },
  ),
  Removed: Type.Object({ session, deleted: Type.True() }, { description: "It is gone." }),
};
