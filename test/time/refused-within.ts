import assert from "node:assert/strict";
import { givenTime } from "./given-time.ts";
import type { ScaledAccount } from "../scaled/scaled-account.ts";
import { until } from "./until.ts";

/** How every server answers a check with the account's key, sent at once. */
export const check = async (
  account: ScaledAccount,
  apis: readonly string[],
): Promise<readonly number[]> => {
  const answers = apis.map((api) => account.get(api, "/api/domain/d1.example"));
  return (await Promise.all(answers)).map(({ status }) => status);
};

/**
 * A revoked key must be refused on every server for every check sent later than the limit. The time of sending
 * counts, not that of the answer: a server that does not run is late, but still refuses.
 * Addresses that send too many wrong keys get 429.
 */
export async function refusedWithin(
  account: ScaledAccount,
  apis: readonly string[],
  withinMs: number,
): Promise<void> {
  const { nowMs, stop } = givenTime();
  const isRefused = async (): Promise<boolean> => {
    const askedMs = nowMs();
    const statuses = await check(account, apis);
    const isSo = statuses.every((status) => status === 401 || status === 429);
    assert.ok(isSo || askedMs <= withinMs, `a revoked key worked after ${String(askedMs)} ms`);
    return isSo;
  };
  try {
    await until(isRefused, { what: "a refusal", everyMs: 20 });
  } finally {
    stop();
  }
}
