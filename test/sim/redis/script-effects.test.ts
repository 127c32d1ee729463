import assert from "node:assert/strict";
import { test } from "node:test";
import { Redis } from "ioredis";
import * as scripts from "../../../src/adapters/redis/scripts.ts";
import { withRedis } from "../../services/with-redis.ts";
import { Chance } from "../chance.ts";
import { Keyspace } from "./keyspace.ts";
import { effectOf } from "./script-effects.ts";

const CALLS = 3_000;
const SINCE = "gatepost:since";
const OWNERS = ["a", "b"];
const HOLDS = ["1", "2", "3"];

interface Call {
  readonly script: scripts.Script;
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
}

/** Calls as the adapters make them, in an order that they would not: days, holds and tokens at random. */
function callOf(chance: Chance, nowMs: number, tokens: readonly string[]): Call {
  const owner = chance.pick(OWNERS);
  const [rate, quota] = [`gatepost:r:${owner}`, `gatepost:q:${owner}`];
  const day = 100 + chance.below(3);
  const units = 1 + chance.below(3);
  const hold = chance.pick(HOLDS);
  const limits = [chance.pick(["", "20"]), chance.pick(["", "40"])];
  const terms = [chance.pick(["", "4"]), chance.pick(["", String(units)]), ...limits, day, 90];
  const counted = [...terms, chance.pick(["", "", hold])];
  const token = chance.pick(["0 0", ...tokens.slice(-3)]);
  const calls: readonly Call[] = [
    { script: scripts.COUNT, keys: [SINCE, rate, quota], values: [nowMs, ...counted] },
    { script: scripts.COUNT, keys: [SINCE, rate, quota], values: [nowMs, ...counted] },
    {
      script: scripts.COUNT_MANY,
      keys: [SINCE, rate, quota, "gatepost:r:c", "gatepost:q:c"],
      values: [nowMs, 0, 0, ...terms, ""],
    },
    { script: scripts.FILL, keys: [SINCE, quota], values: [nowMs, token, day, 90, 3, 7] },
    { script: scripts.FILL, keys: [SINCE, quota], values: [nowMs, token, day, 90, 3, 7] },
    { script: scripts.FIND, keys: [SINCE], values: [nowMs] },
    {
      script: scripts.END_HOLD,
      keys: [quota],
      values: [nowMs, hold, chance.pick(["keep", "drop"])],
    },
    { script: scripts.GIVE_UNITS_BACK, keys: [quota], values: [nowMs, units, day, 90] },
    { script: scripts.SPEND_RATE, keys: [rate], values: [chance.pick([0, nowMs]), 2] },
    { script: scripts.GIVE_RATE_BACK, keys: [rate], values: [nowMs] },
    { script: scripts.FORGET, keys: [quota], values: [nowMs, hold] },
  ];
  return chance.pick(calls);
}

withRedis("the effects of the scripts on Redis", (server) => {
  test(`${String(CALLS)} calls of scripts have the same answers on Redis and in its model`, async () => {
    const chance = new Chance(3);
    const db = new Keyspace(Date.now);
    const client = new Redis(server().url);
    try {
      await client.flushall();
      let nowMs = 1_000_000;
      const tokens: string[] = [];
      const called = new Set<string>();
      for (let count = 0; count < CALLS; count += 1) {
        nowMs += chance.pick([0, 1, 300, 700, 50_000]);
        const { script, keys, values } = callOf(chance, nowMs, tokens);
        const real = await client.eval(script.lua, keys.length, ...keys, ...values);
        const made = effectOf(db, script.sha1, keys, values);
        assert.deepEqual(made, real, JSON.stringify({ count, keys, values }));
        const token = Array.isArray(real) ? (real[6] as unknown) : undefined;
        if (typeof token === "string") tokens.push(token);
        called.add(script.sha1);
      }
      assert.equal(called.size, Object.values(scripts).filter((one) => "lua" in one).length);
    } finally {
      client.disconnect();
    }
  });
});
