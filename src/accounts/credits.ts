import type { Clock } from "../base/clock.ts";
import type { CreditEntry, Credits } from "./admission/credits.ts";
import type { Notices } from "../store/notices.ts";

/** Credits in one grant, in either direction. */
export const GRANT_MAX = 1_000_000_000;

/** Characters of a reason. */
export const REASON_MAX = 200;

export type CreditAnswer =
  | { readonly kind: "granted"; readonly balance: number }
  /** The balance, which stands, would fall below 0 or rise too high. */
  | { readonly kind: "out_of_range"; readonly balance: number }
  | { readonly kind: "no_account" }
  | { readonly kind: "bad_amount" }
  | { readonly kind: "bad_reason" };

export interface CreditService {
  /** Adds `amount`, or takes it back when it is negative. Can be spent within 5 s. */
  grant(accountId: string, amount: number, reason: string): Promise<CreditAnswer>;
  /** Newest first. */
  entries(accountId: string, limit: number): Promise<readonly CreditEntry[]>;
}

export interface CreditServiceDeps {
  /** Called after a change; absent: other processes notice within 5 s. */
  readonly notices?: Pick<Notices, "tell">;
  readonly credits: Credits;
  readonly clock: Pick<Clock, "nowMs">;
}

const isAmount = (amount: number): boolean =>
  Number.isSafeInteger(amount) && amount !== 0 && Math.abs(amount) <= GRANT_MAX;

export function createCreditService({ credits, clock, notices }: CreditServiceDeps): CreditService {
  return {
    async grant(accountId, amount, text) {
      const reference = text.trim();
      if (!isAmount(amount)) return { kind: "bad_amount" };
      if (reference.length > REASON_MAX || /\p{Cc}/u.test(reference)) return { kind: "bad_reason" };
      const answer = await credits.grant({ accountId, amount, reference, nowMs: clock.nowMs() });
      if (answer.kind === "granted") notices?.tell("accounts");
      return answer;
    },
    entries: (accountId, limit) => credits.entries(accountId, limit),
  };
}
