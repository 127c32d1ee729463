import { Type } from "../../core/json-schema.ts";
import { ResultSchema } from "./schemas.ts";

/** What bulk requests and sessions answer, for `/openapi.json`. */

const count = (description: string) => Type.Integer({ description, minimum: 0 });
const strict = { additionalProperties: false } as const;

const component = (name: string) => Type.Unsafe<unknown>({ $ref: `#/components/schemas/${name}` });

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

export const BulkSummarySchema = Type.Object(
  { ...counters, session },
  { ...strict, description: "Bulk summary." },
);

export const BulkResultsSchema = Type.Object(
  {
    session,
    stats: BulkSummarySchema,
    results: Type.Record(component("Result"), {
      description: "By submitted spelling, in submission order.",
    }),
  },
  { ...strict, description: "The summary with the result of every entry." },
);

/** A result with the note of its entry, as sessions show it. */
export const NotedResultSchema = Type.Object(
  {
    ...ResultSchema.properties,
    code: Type.Optional(
      Type.String({
        description:
          "Why the format is bad, such as `two_ats`; `lost_at` where the at sign is missing; among addresses `bare_domain` for domains.",
      }),
    ),
    message: Type.Optional(Type.String({ description: "The same for people." })),
  },
  {
    ...strict,
    required: ResultSchema.required,
    description: "A result, and why its format is bad.",
  },
);

export const SessionResultsSchema = Type.Object(
  {
    session,
    stats: BulkSummarySchema,
    results: Type.Record(component("NotedResult"), {
      description: "By submitted spelling, in submission order.",
    }),
  },
  { ...strict, description: "The summary with the result of every entry of a session." },
);

export const QueuedSchema = Type.Object(
  {
    session,
    status: Type.Literal("pending"),
    email_count: count("Unique entries in the job."),
    estimated_seconds: Type.Integer({ minimum: 1, description: "Until it is done, roughly." }),
  },
  { ...strict, description: "The batch is queued; ask `/api/view/{session}` for it." },
);

export const ProgressSchema = Type.Object(
  {
    session,
    status: Type.Unsafe<string>({
      type: "string",
      enum: ["pending", "processing", "failed", "completed"],
      description: "`completed` in events only.",
    }),
    email_count: count("Unique entries in the job."),
    processed_count: Type.Optional(count("Entries answered, from `processing` on; never falls.")),
  },
  { ...strict, description: "How far a job is." },
);

export const CompletedSchema = Type.Object(
  {
    session,
    status: Type.Literal("completed"),
    email_count: count("Unique entries."),
    processed_count: count("The same."),
    ...counters,
  },
  { ...strict, description: "A finished batch without a valid entry." },
);

export const RemovedSchema = Type.Object(
  { session, deleted: Type.Literal(true) },
  { ...strict, description: "The session is gone." },
);
