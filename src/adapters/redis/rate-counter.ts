import type { RateCounter, RateTaking } from "../../ports/admission/rate-counter.ts";
import type { OwnerKey } from "../../ports/admission/owner.ts";
import type { RedisConnection, Reply } from "./connection.ts";
import { countKeys, rateKey } from "./keys.ts";
import { COUNT, GIVE_RATE_BACK, SPEND_RATE } from "./scripts.ts";

export interface RateDeps {
  readonly connection: RedisConnection;
  /** Windows of this process alone, for when Redis is away. */
  readonly local: RateCounter;
  /** "": the server's own clock. */
  readonly time: () => number | "";
}

/** The sign distinguishes windows of the local counter from shared ones. */
const localWindow = (window: number): number => -1 - window;

/** Windows that all processes share; of this process alone while Redis is away. */
export function redisRateCounter({ connection, local, time }: RateDeps): RateCounter {
  return {
    async take(owner, limit, steadyMs) {
      const keys = countKeys(connection.prefix, owner);
      const reply = await connection.run(COUNT, keys, [time(), limit, "", "", "", "", "", ""]);
      return reply === undefined ? takeLocally(local, owner, limit, steadyMs) : rateOf(reply);
    },
    async spend(owner, window, count) {
      if (window < 0) await local.spend(owner, localWindow(window), count);
      else await connection.run(SPEND_RATE, [rateKey(connection.prefix, owner)], [window, count]);
    },
    async giveBack(owner, window) {
      if (window < 0) await local.giveBack(owner, localWindow(window));
      else await connection.run(GIVE_RATE_BACK, [rateKey(connection.prefix, owner)], [window]);
    },
  };
}

export async function takeLocally(
  local: RateCounter,
  owner: OwnerKey,
  limit: number,
  steadyMs: number,
): Promise<RateTaking> {
  const taking = await local.take(owner, limit, steadyMs);
  return { ...taking, window: localWindow(taking.window) };
}

/** The first part of what `COUNT` returns. */
export function rateOf(reply: NonNullable<Reply>): RateTaking {
  return {
    isGranted: reply[0] === 1,
    remaining: Number(reply[1]),
    closesInMs: Number(reply[2]),
    window: Number(reply[3]),
  };
}
