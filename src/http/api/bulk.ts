import { createHash } from "node:crypto";
import type { Log } from "../../base/log.ts";
import {
  badIdempotencyKey,
  bulkCooldown,
  bulkTooLarge,
  missingParameter,
  retryInFlight,
  tooManyEntries,
} from "../../base/refusals.ts";
import type { BulkAnswer, FileFacts, IdempotencyKey } from "../../bulk/bulk.ts";
import type { BulkService } from "../../bulk/submit.ts";
import { checkBulkText } from "../../bulk/submit.ts";
import { Type } from "../../core/json-schema.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import { ENTRY_CHARACTER } from "../decode.ts";
import {
  apiError,
  byGet,
  COMMON_ERRORS,
  EXAMPLE_ID,
  jsonResponse,
  type Operation,
  type Parameter,
  type Paths,
  pathParameter,
  queryParameter,
  type Responses,
} from "../openapi.ts";
import { type ApiReply, type ApiRequest, JSON_TYPE } from "../route.ts";
import { component } from "../schemas.ts";
import { resultsJson, streamed } from "./results.ts";

/** A list as a client sent it under `/api/email` or `/api/domain`. */
interface BulkInput {
  readonly family: "email" | "domain";
  /** Decoded, "+" read by the bulk rule; entries separated by commas or white space. Not empty. */
  readonly text: string;
  readonly wantsResults: boolean;
}

export type BulkHandler = (request: ApiRequest, input: BulkInput) => Awaitable<ApiReply>;

export function bulkHandler(bulk: Pick<BulkService, "submit">, log: Log): BulkHandler {
  return async (request, { family, text, wantsResults }) => {
    if (!ENTRY_CHARACTER.test(text)) throw missingParameter(family);
    checkBulkText(text);
    const retry = idempotencyKeyOf(request, () => [
      family,
      ...request.path,
      String(wantsResults),
      text,
    ]);
    const answer = await bulk.submit(request.entrance, {
      text,
      ...(retry === undefined ? {} : { retry }),
    });
    return bulkReply(answer, wantsResults, log);
  };
}

const RETRY_KEY = /^[ -~]{1,255}$/;

/** `parts` are what makes the answer: bodies that say the same in one media type are one, however encoded. */
export function idempotencyKeyOf(
  { method, source }: ApiRequest,
  parts: () => readonly string[],
): IdempotencyKey | undefined {
  const { "idempotency-key": key, "content-type": type = "" } = source.headers;
  if (key === undefined || method !== "POST") return undefined;
  if (typeof key !== "string" || !RETRY_KEY.test(key)) throw badIdempotencyKey();
  const hash = createHash("sha256");
  for (const part of [type.split(";", 1)[0]?.trim().toLowerCase() ?? "", ...parts()]) {
    hash.update(`${String(part.length)}:`).update(part);
  }
  return { key, bodyHash: hash.digest("hex") };
}

/** The queued response, the summary, or with `wantsResults` the session, the summary and all results. */
export function bulkReply(
  answer: BulkAnswer,
  wantsResults: boolean,
  log: Log,
  facts?: FileFacts,
): ApiReply {
  const { paidBy } = answer;
  if (answer.kind === "queued") {
    return { type: JSON_TYPE, paidBy, body: JSON.stringify({ ...answer.queued, ...facts }) };
  }
  const body = wantsResults
    ? streamed(resultsJson(answer, facts), log)
    : JSON.stringify({ ...answer.stats, ...facts });
  return { type: JSON_TYPE, paidBy, body };
}

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

export const BULK_SHAPES = ["BulkSummary", "BulkResults", "Queued"].map(component);

const RESULTS_FLAG = "`1` or `true`: with the result of every entry, unless the batch is queued.";

export const BULK_ERRORS: Responses = {
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

export const bulkResponses: Responses = {
  ...BULK_ERRORS,
  200: jsonResponse(
    "The summary, with `json` the results too; or the queued response, which every client must expect.",
    Type.Unsafe<unknown>({ oneOf: BULK_SHAPES }),
    BULK_EXAMPLES,
  ),
};

export function bulkPaths(family: "email" | "domain"): Paths {
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
