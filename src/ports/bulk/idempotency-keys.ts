import type { OwnerKey } from "../admission/owner.ts";

/** A request that names itself, so that a repetition can be told from a new one. */
export interface RetryClaim {
  readonly owner: OwnerKey;
  readonly key: string;
  readonly bodyHash: string;
  readonly nowMs: number;
  /** After this time without an answer the request counts as dead. */
  readonly lockMs: number;
}

export type RetryOutcome =
  /** First of its kind: answer it, and keep the answer with `token` or call `release`. */
  | { readonly kind: "new"; readonly token: string }
  | { readonly kind: "in_flight" }
  | { readonly kind: "other_body" }
  | { readonly kind: "kept"; readonly answer: string };

/** Answers kept for repetitions, for as long as their session lives. Rules: `test/contracts/retry-keys.ts`. */
export interface IdempotencyKeys {
  begin(claim: RetryClaim): Promise<RetryOutcome>;
  /** The request ended without an answer worth keeping. Nothing when the token is not the latest. */
  release(owner: OwnerKey, key: string, token: string): Promise<void>;
}
