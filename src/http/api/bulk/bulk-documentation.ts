import {
  bulkCooldown,
  bulkTooLarge,
  missingParameter,
  retryInFlight,
  tooManyEntries,
} from "../../../base/refusals.ts";
import { Type } from "../../../core/json-schema.ts";
import {
  apiError,
  COMMON_ERRORS,
  EXAMPLE_ID,
  jsonResponse,
  pathParameter,
  queryParameter,
} from "../../openapi/openapi.ts";
import {
  byGet,
  type Operation,
  type Parameter,
  type PathItem,
  type Response,
} from "../../answer/operation.ts";

const STATS = {
  total: 3,
  unique: 2,
  invalid_format: 0,
  invalid_dns: 0,
  disposable: 1,
  valid: 1,
  session: EXAMPLE_ID,
};

export const BULK_EXAMPLES = {
  summary: { value: STATS },
  queued: {
    value: { session: EXAMPLE_ID, status: "pending", email_count: 12_000, estimated_seconds: 9 },
  },
} as const;

/** Every shape that a bulk request is answered with. */
export const BULK_SHAPES = ["BulkSummary", "BulkResults", "Queued"].map((name) => ({
  $ref: `#/components/schemas/${name}`,
}));

const RESULTS_FLAG = "`1` or `true`: with the result of every entry, unless the batch is queued.";

/** What stands against a batch besides the common errors. */
export const BULK_ERRORS: Readonly<Record<string, Response>> = {
  ...COMMON_ERRORS,
  400: apiError("No entry, or a parameter of a wrong type.", missingParameter("email")),
  409: apiError("A request with this Idempotency-Key is being answered.", retryInFlight(1)),
  413: apiError("More than 2,000,000 octets.", bulkTooLarge()),
  422: apiError(
    "Too many unique entries, or an Idempotency-Key used for something else.",
    tooManyEntries(10_000, 10_001),
  ),
  429: apiError(
    "A job is running, the anonymous cooldown, rate or quota. `Retry-After` says how long.",
    bulkCooldown(42),
  ),
};

export const IDEMPOTENCY_KEY: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "1 to 255 printable ASCII characters. The same request with the same key gets the same answer, uncharged, " +
    "until its session ends.",
  schema: Type.String({ minLength: 1, maxLength: 255 }),
};

export const bulkResponses: Readonly<Record<string, Response>> = {
  ...BULK_ERRORS,
  200: jsonResponse(
    "The summary, with `json` the results too; or the queued response, which every client must expect.",
    Type.Unsafe<unknown>({ oneOf: BULK_SHAPES }),
    BULK_EXAMPLES,
  ),
};

/** `/api/{family}/{entries}/mass` and `/bulk`. */
export function bulkPaths(family: "email" | "domain"): Readonly<Record<string, PathItem>> {
  const name = family === "email" ? "checkEmails" : "checkDomains";
  const operation = (operationId: string): Operation => ({
    operationId,
    summary: "Check many addresses and domains given in the path",
    description: "What holds an @ is an address, anything else a domain.",
    tags: ["bulk"],
    parameters: [
      pathParameter("entries", "Separated by commas or white space.", "info@iana.org,iana.org"),
      queryParameter("json", RESULTS_FLAG, "1"),
    ],
    responses: bulkResponses,
  });
  return {
    [`/api/${family}/{entries}/mass`]: byGet(operation(`${name}InPath`)),
    [`/api/${family}/{entries}/bulk`]: byGet(operation(`${name}InPathAlias`)),
  };
}

/** Clients send a flag as a boolean, or as the text of one. */
const flag = (description: string) =>
  Type.Optional(Type.Union([Type.Boolean(), Type.String()], { description }));

/** Parameters of the body that turn a single check into a batch. */
export const bulkFields = {
  bulk: flag("`1` or `true`: the value is a list; `features` is ignored."),
  json: flag(`With \`bulk\`: ${RESULTS_FLAG}`),
};
