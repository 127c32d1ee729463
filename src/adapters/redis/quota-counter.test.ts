import assert from "node:assert/strict";
import { test } from "node:test";
import type { QuotaSpent, QuotaTaken } from "../../ports/admission/quota-counter.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import type { RedisConnection } from "./connection.ts";
import { RedisQuotaCounter } from "./quota-counter.ts";
import { FORGET, type Script } from "./scripts.ts";

/** Redis is away and comes back while the ledger takes a unit. Returns how often the owner's counter was voided after that. */
async function voidedAfter(answer: () => Promise<QuotaTaken | QuotaSpent>): Promise<number> {
  const mends: (() => Promise<void>)[] = [];
  const voided: string[] = [];
  const note = ({ sha1 }: Script, [key]: readonly string[]): void => {
    if (sha1 === FORGET.sha1) voided.push(String(key));
  };
  const connection = {
    isUp: false,
    awayForMs: Infinity,
    prefix: "gatepost:",
    beforeUp: (mend: () => Promise<void>) => void mends.push(mend),
    afterUp: () => undefined,
    mend: (script: Script, keys: readonly string[]) => Promise.resolve(note(script, keys)),
    run: (script: Script, keys: readonly string[]) =>
      Promise.resolve(connection.isUp ? (note(script, keys), []) : undefined),
  };
  let paid = 0;
  const counter = new RedisQuotaCounter({
    connection: connection as unknown as RedisConnection,
    ledger: {
      unitsUsed: () => Promise.reject(new Error("nobody asks")),
      async take() {
        for (const mend of mends) await mend();
        connection.isUp = true;
        paid = voided.length;
        return await answer();
      },
    },
    journal: {
      add: () => undefined,
      flush: () => Promise.resolve(),
      written: () => Promise.resolve(),
    },
    clock: manualClock(),
    ids: { hex32: () => "0".repeat(32) },
    time: () => 0,
  });
  const limits = { daily: 10, monthly: null };
  await Promise.resolve(counter.take("account:ada", 1, limits, 0)).catch(() => undefined);
  assert.equal(paid, 1, "the debt is paid when Redis is back");
  return voided.length - paid;
}

for (const [name, answer, times] of [
  ["that was taken", () => Promise.resolve({ kind: "taken", day: 0 } as const), 1],
  ["whose answer was lost", () => Promise.reject(new Error("cut off")), 1],
  ["that is not left", () => Promise.resolve({ kind: "spent", period: "day" } as const), 0],
] as const) {
  test(`a counter that Redis had again before the ledger took a unit is read anew: a unit ${name}`, async () => {
    assert.equal(await voidedAfter(answer), times);
  });
}
