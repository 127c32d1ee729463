import { createHash } from "node:crypto";
import type { Log } from "../../../base/log.ts";
import type { BulkAnswer, BulkService, FileFacts, IdempotencyKey } from "../../../bulk/bulk.ts";
import { checkBulkText } from "../../../bulk/submit.ts";
import { badIdempotencyKey, missingParameter } from "../../../base/refusals.ts";
import { resultsJson } from "../../answer/results-text.ts";
import { type ApiReply, type ApiRequest, JSON_TYPE } from "../../answer/route.ts";
import { ENTRY_CHARACTER } from "../../decode.ts";
import { streamed } from "../../answer/streamed.ts";
import type { BulkHandler } from "../check.ts";

export interface BulkHandlerDeps {
  readonly bulk: Pick<BulkService, "submit">;
  readonly log: Log;
}

/** Answers a list under `/api/email` or `/api/domain`. */
export function bulkHandler({ bulk, log }: BulkHandlerDeps): BulkHandler {
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
      layout: "list",
      ...(retry === undefined ? {} : { retry }),
    });
    return bulkReply(answer, wantsResults, log);
  };
}

const RETRY_KEY = /^[ -~]{1,255}$/;

/**
 * The Idempotency-Key of a POST. `parts` are what makes the answer; two bodies that say the same in the same
 * media type are one, however they are encoded.
 */
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
