import { Refusal } from "../base/refusals.ts";

/** The refusal for bulk requests: one field in the body; only Retry-After has the wait. */
export function forBulk(refusal: Refusal): Refusal {
  const { code, status, message, retryAfterSeconds } = refusal;
  const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new Refusal(code, status, message, more);
}
