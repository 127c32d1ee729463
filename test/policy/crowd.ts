import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { DAY_MS } from "../../src/core/calendar.ts";
import { manualClock } from "../time/manual-clock.ts";
import { ask } from "./asked-decision.ts";
import { type GateOptions, gateWorld } from "./gate-world.ts";

export const MINUTE_MS = 60_000;

/** A server of one account, whose rate nobody spends. */
export async function crowd(t: TestContext, options: GateOptions = {}) {
  const clock = manualClock();
  clock.advance(20_000 * DAY_MS);
  const world = await gateWorld(t, { clock, ...options });
  const account = await world.account("jo@shop.example");
  await world.store.accounts.setLimits(account.id, { ratePerMinute: 100_000 });
  const key = { "x-api-key": account.apiKey };
  const decide = async (email: string, more: object = {}) =>
    await ask(world, { email, ...more }, key);
  const said = async (email: string, more: object = {}): Promise<string> => {
    const { answer, status } = await decide(email, more);
    assert.equal(status, 200);
    return `${answer.decision} ${answer.reason}`;
  };
  return { clock, world, account, key, decide, said };
}

export const at = (ip: string, more: object = {}) => ({ count_by: { ip, ...more } });
export const person = (number: number): string => `p${String(number)}.x${String(number)}@gmail.com`;
