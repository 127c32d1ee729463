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
import type { BulkAnswer, FileFactsJson, IdempotencyKey } from "../../bulk/jobs/bulk-shapes.ts";
import type { BulkService } from "../../bulk/jobs/submit.ts";
import { checkBulkText } from "../../bulk/jobs/submit.ts";
import { component, Type } from "../../core/json-schema.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import { leftSignal } from "../body.ts";
import { ENTRY_CHARACTER } from "../decode.ts";
import { EXAMPLE_ID, json, type Operation, optionalFlag, type Refusals } from "../operation.ts";
import { type ApiReply, type ApiRequest, JSON_TYPE } from "../route.ts";
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
    const answer = await bulk.submit(request.admitted, {
      text,
      left: leftSignal(request.source),
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
  facts?: FileFactsJson,
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

export const RESULTS_FIELD = optionalFlag(
  "`1` or `true`: with the result of every entry, unless the batch is queued.",
);

const REFUSALS: Refusals = {
  400: ["No entry, or a parameter of a wrong type.", missingParameter("email")],
  409: ["A request with this Idempotency-Key is being answered.", retryInFlight(1)],
  413: ["More than 2,000,000 octets.", bulkTooLarge()],
  422: [
    "Too many unique entries, or an Idempotency-Key used for something else.",
    tooManyEntries(10_000, 10_001),
  ],
  429: [
    "A job is running, the anonymous cooldown, rate or quota. `Retry-After` says how long.",
    bulkCooldown(42),
  ],
};

export const ANSWERED = "The counters, with `json` the results; or a queued batch.";

export const COUNTERS = {
  total: 3,
  unique: 2,
  invalid_format: 0,
  invalid_dns: 0,
  disposable: 1,
  valid: 1,
  session: EXAMPLE_ID,
};

export const BULK = {
  tag: "bulk",
  answers: json(ANSWERED, component("BulkAnswer"), COUNTERS),
  refusals: REFUSALS,
} satisfies Partial<Operation>;

/** `POST /api/bulk`: what `POST /api/email` does with `bulk`, with one form of answer. */
export const CHECK_LIST: Operation = {
  ...BULK,
  id: "checkList",
  at: "POST /api/bulk",
  summary: "Check many addresses and domains",
  about:
    "What holds an @ is an address, anything else a domain. `email` may be an array of texts. `POST /api/email` with `bulk` does the same.",
  isIdempotent: true,
  body: {
    email: {
      schema: Type.String({
        minLength: 1,
        description: "Entries, separated by commas or white space.",
      }),
    },
    json: RESULTS_FIELD,
  },
  bodyExample: { email: "info@iana.org, iana.org" },
};

export const bulkInPath = (family: "email" | "domain"): Operation => ({
  ...BULK,
  id: family === "email" ? "checkEmailsInPath" : "checkDomainsInPath",
  at: `GET /api/${family}/{entries}/mass`,
  alsoPost: true,
  summary: "Check many addresses and domains given in the path",
  about: "What holds an @ is an address, anything else a domain. `/bulk` does the same.",
  path: {
    entries: Type.String({
      description: "Separated by commas or white space.",
      example: "info@iana.org,iana.org",
    }),
  },
  query: { json: RESULTS_FIELD },
});
