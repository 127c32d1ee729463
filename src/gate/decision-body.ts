import type { SourceCounts } from "../core/policy/policy.ts";
import { MAILBOX_RULES } from "../core/evidence/alias.ts";
import type { DecisionAnswer } from "./gate-shapes.ts";
import type { PoliciesInForce } from "./rulings.ts";
import type { Proof } from "./proof/proof.ts";
import type { CheckedEntry, Ruling } from "./rulings.ts";
import type { Marks } from "./traffic-marks.ts";

/** A check, and what follows from it for the account that asked: nothing of it is of one request alone. */
export interface CheckedDecision extends CheckedEntry {
  readonly isComplete: boolean;
  /** Makes the JSON when it is asked first: pages and most hooks are not told it. */
  readonly result: () => string;
  readonly mailboxId: string | undefined;
  /** The domain that feedback is about; absent for domains whose mailboxes belong to strangers. */
  readonly reportedDomain: string | undefined;
  /** Absent where nothing is counted. */
  readonly marks: Marks | undefined;
  readonly expiresAtMs: number;
  /** The answer that was made of it last: the next one is mostly the same. */
  last?: { readonly said: DecisionContext; readonly body: string };
}

export type DecisionAsker = "page" | "account" | "nobody";

interface DecisionContext {
  readonly ruling: Ruling;
  readonly policies: PoliciesInForce;
  readonly asker: DecisionAsker;
  readonly seen: number | undefined;
  readonly counts: SourceCounts | undefined;
  readonly retryAfter: number | undefined;
  readonly proof: Proof | undefined;
}

const NO_COUNTS: SourceCounts = {};

function areSame(some: SourceCounts = NO_COUNTS, others: SourceCounts = NO_COUNTS): boolean {
  for (const name in others) if (some[name] === undefined) return false;
  for (const name in some) {
    const [one, other] = [some[name], others[name]];
    if (one?.["10m"] !== other?.["10m"] || one?.day !== other?.day) return false;
    if (one?.["30d"] !== other?.["30d"]) return false;
  }
  return true;
}

function isSame(one: DecisionContext, other: DecisionContext): boolean {
  return (
    one.policies === other.policies &&
    one.asker === other.asker &&
    one.seen === other.seen &&
    areSame(one.counts, other.counts) &&
    one.retryAfter === other.retryAfter &&
    one.proof === other.proof &&
    one.ruling.message === other.ruling.message &&
    one.ruling.outcome.decision === other.ruling.outcome.decision &&
    one.ruling.outcome.reason === other.ruling.outcome.reason
  );
}

export function bodyOf(
  checked: CheckedDecision,
  said: DecisionContext,
  token: string | undefined,
): string {
  const { last } = checked;
  const isKnown = last !== undefined && isSame(last.said, said);
  const body = isKnown ? last.body : written(checked, said);
  if (!isKnown) checked.last = { said, body };
  return token === undefined ? body : `${body.slice(0, -1)},"token":${JSON.stringify(token)}}`;
}

function written(
  { meant, isComplete, mailboxId: id, result }: CheckedDecision,
  { ruling, policies, asker, seen, counts, retryAfter, proof }: DecisionContext,
): string {
  const { decision, reason } = ruling.outcome;
  // There is nothing that a visitor could do about a review.
  const message = asker === "page" && decision === "review" ? undefined : ruling.message;
  const head = JSON.stringify({
    decision,
    reason,
    message,
    retry_after: retryAfter,
    did_you_mean: meant,
    complete: isComplete,
    verified: proof?.verified,
    private_address: proof?.isPrivate === true ? true : undefined,
    policy: { name: policies.name, version: policies.live.version },
    mailbox:
      asker !== "account" || id === undefined ? undefined : { id, rules: MAILBOX_RULES, seen },
    counts: asker === "account" ? counts : undefined,
  } satisfies Record<Exclude<keyof DecisionAnswer, "result" | "token">, unknown>);
  return asker === "page" ? head : `${head.slice(0, -1)},"result":${result()}}`;
}
