import { Refusal } from "../refusals.ts";

/** The refusal as bulk requests get it: one field in the body; the wait is told by Retry-After alone. */
export function forBulk(refusal: Refusal): Refusal {
  const { code, status, message, retryAfterSeconds } = refusal;
  const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new Refusal(code, status, message, more);
}
