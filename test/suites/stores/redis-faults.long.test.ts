import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type Fault, openPair, ridesOut } from "../../scaled/redis-pair.ts";
import { withRedis } from "../../services/with-redis.ts";

const cutFor = (ms: number): Fault => ({
  name: `the line is cut for ${String(ms / 1_000)} s`,
  breakIt: ({ line }) => line.cut(),
  mendIt: async ({ line }) => {
    await pause(ms);
    await line.mend();
  },
});

const faults: readonly Fault[] = [
  cutFor(1_000),
  cutFor(10_000),
  cutFor(60_000),
  {
    name: "the line is frozen for 10 s",
    breakIt: ({ line }) => line.freeze(),
    mendIt: async ({ line }) => {
      await pause(10_000);
      await line.mend();
    },
  },
  {
    name: "every answer takes 3 s",
    breakIt: ({ line }) => line.slow(3_000),
    mendIt: async ({ line }) => {
      await pause(7_000);
      line.slow(0);
    },
  },
  {
    name: "Redis is stopped for 10 s and starts empty",
    breakIt: ({ server: redis }) => redis.stop("end"),
    mendIt: async ({ server: redis }) => {
      await pause(10_000);
      await redis.start();
    },
  },
];

withRedis("long faults of Redis", (server) => {
  for (const fault of faults) {
    test(`while ${fault.name} no unit is lost and no limit is exceeded`, async (t) => {
      await ridesOut(await openPair(t, server()), fault);
    });
  }
});
