import type { OwnerKey } from "../base/owner.ts";

/** A request with its own key, so that a repetition is recognised. */
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
  /** A twin is being answered, or its process died: then the lock ends in `restMs`. */
  | { readonly kind: "in_flight"; readonly restMs: number }
  | { readonly kind: "other_body" }
  | { readonly kind: "kept"; readonly answer: string };

/** Answers kept for repetitions, for as long as their session lives. Rules: `test/contracts/bulk/session-store.ts`. */
export interface IdempotencyKeys {
  begin(claim: RetryClaim): Promise<RetryOutcome>;
  /** The request ended without an answer worth keeping. Nothing when the token is not the latest. */
  release(owner: OwnerKey, key: string, token: string): Promise<void>;
  /** Ends every lock: for the start of a process that is the only one, whose requests died with the last one. */
  releaseAll(): Promise<void>;
}
