import type { Clock } from "../base/clock.ts";
import type { OwnerKey } from "../base/owner.ts";
import type { IdempotencyKeys } from "./idempotency-keys.ts";
import type { SessionStore } from "./session-store.ts";
import { retryInFlight, retryOtherBody } from "../base/refusals.ts";
import type { BulkAnswer, QueuedBatch, IdempotencyKey } from "./bulk.ts";
import { statsOf } from "./present.ts";
import { spelledResults, storedResults } from "./result-source.ts";

/** What is kept of an answer; results are read again from the session. */
export type KeptRecord =
  | { readonly kind: "done"; readonly session: string }
  | { readonly kind: "queued"; readonly queued: QueuedBatch };

export interface RetryDeps {
  readonly idempotencyKeys: IdempotencyKeys;
  readonly sessions: SessionStore;
  readonly clock: Clock;
  readonly syncBudgetMs: number;
  /** Alone, every lock is of a request that is alive; among others, some may be of processes that died. */
  readonly where: "alone" | "among_others";
}

type OpenRetry =
  | { readonly kind: "kept"; readonly record: KeptRecord }
  | {
      readonly kind: "new";
      /** Undefined without a key. */
      readonly token: string | undefined;
      /** For a request that is refused or failed: its key is as if never used. */
      readonly release: () => Promise<void>;
    };

/** What a request may take besides its time budget before it counts as dead. */
const LOCK_SPARE_MS = 20_000;

/**
 * Opens a request that may carry an Idempotency-Key. Throws 409 while a twin is being answered, 422 when
 * the key came with another body.
 */
export async function openRetry(
  { idempotencyKeys, clock, syncBudgetMs, where }: RetryDeps,
  owner: OwnerKey,
  retry: IdempotencyKey | undefined,
): Promise<OpenRetry> {
  if (retry === undefined) {
    return { kind: "new", token: undefined, release: () => Promise.resolve() };
  }
  const outcome = await idempotencyKeys.begin({
    owner,
    ...retry,
    nowMs: clock.nowMs(),
    lockMs: syncBudgetMs + LOCK_SPARE_MS,
  });
  switch (outcome.kind) {
    case "in_flight":
      throw retryInFlight(where === "alone" ? 1 : Math.max(1, Math.ceil(outcome.restMs / 1_000)));
    case "other_body":
      throw retryOtherBody();
    case "kept":
      return { kind: "kept", record: JSON.parse(outcome.answer) as KeptRecord };
    case "new":
      return {
        kind: "new",
        token: outcome.token,
        release: () => idempotencyKeys.release(owner, retry.key, outcome.token),
      };
  }
}

/** The answer once more, uncharged. */
export async function keptAnswer(
  { sessions, clock }: RetryDeps,
  record: KeptRecord,
): Promise<BulkAnswer> {
  if (record.kind === "queued") return { paidBy: "plan", ...record };
  const session = await sessions.find(record.session, clock.nowMs());
  if (session === undefined) throw new Error(`kept answer without its session`);
  return {
    kind: "done",
    paidBy: "plan",
    stats: statsOf(session),
    results: () => spelledResults(storedResults(sessions, session)),
  };
}
