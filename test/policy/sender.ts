import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Zone } from "../dns/zone-lookup.ts";
import { inject } from "../http/inject.ts";
import { ask } from "./asked-decision.ts";
import { type GateOptions, gateWorld } from "./gate-world.ts";
import { manualClock } from "../time/manual-clock.ts";
import { DAY_MS } from "../../src/core/calendar.ts";

const ZONE: Zone = {
  "mx.good.example": { a: ["198.51.100.1"] },
  "gmail.com": { mx: ["5 mx.good.example"] },
  "gmaik.com": { mx: ["5 mx.good.example"] },
  "firm.example": { mx: ["5 mx.good.example"] },
  "vtext.com": { mx: ["5 mx.good.example"] },
  "none.example": {},
};

const KNOWN = { curated: ["bad.example"], domains: { "foe.example": "deny" } } as const;

/** An account of a world without the real time, which asks before it sends. */
export async function sender(t: TestContext, options: GateOptions = {}) {
  const clock = manualClock();
  clock.advance(20_000 * DAY_MS);
  const world = await gateWorld(t, { zone: ZONE, clock, known: KNOWN, ...options });
  const account = await world.account("jo@shop.example");
  const may = async (email: string, more: object = {}, key = account.apiKey) => {
    const { answer, status } = await ask(
      world,
      { email, for: "send", ...more },
      { "x-api-key": key },
    );
    assert.equal(status, 200);
    return answer;
  };
  const said = async (email: string, key?: string): Promise<string> => {
    const { decision, reason } = await may(email, {}, key);
    return `${decision} ${reason}`;
  };
  const report = (email: string, outcome: string) =>
    inject(world.app, {
      method: "POST",
      url: "/api/feedback",
      payload: { email, outcome },
      headers: { "x-api-key": account.apiKey, "content-type": "application/json" },
    });
  return { clock, world, account, may, said, report };
}

export const counted = (said: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...new Set(said)].map((one) => [one, said.filter((s) => s === one).length]));
