import assert from "node:assert/strict";
import { test } from "node:test";
import { dayOf } from "../../../src/core/calendar.ts";
import { bothUp, type Fault, grantedBy, openPair, ridesOut } from "../../scaled/redis-pair.ts";
import { withRedis } from "../../services/with-redis.ts";

const faults: readonly Fault[] = [
  {
    name: "the line is cut",
    breakIt: ({ line }) => line.cut(),
    mendIt: ({ line }) => line.mend(),
  },
  {
    name: "Redis is killed and starts empty",
    breakIt: ({ server: redis }) => redis.stop("kill"),
    mendIt: ({ server: redis }) => redis.start(),
  },
  {
    name: "the line is frozen",
    breakIt: ({ line }) => line.freeze(),
    mendIt: ({ line }) => line.mend(),
  },
  {
    name: "Redis is out of memory",
    breakIt: ({ admin }) => admin((client) => client.config("SET", "maxmemory", "1")),
    mendIt: ({ admin }) => admin((client) => client.config("SET", "maxmemory", "0")),
  },
  {
    name: "Redis is a replica that takes no writes",
    breakIt: ({ admin }) => admin((client) => client.replicaof("127.0.0.1", 1)),
    mendIt: ({ admin }) => admin((client) => client.replicaof("NO", "ONE")),
  },
];

/** Owners of a race, each with its own limit and start. */
const ROUNDS = 200;
const LIMIT = 20;

withRedis("faults of Redis", (server) => {
  for (const fault of faults) {
    test(`while ${fault.name} no unit is lost and no limit is exceeded`, async (t) => {
      await ridesOut(await openPair(t, server()), fault);
    });
  }

  test("two processes at the limit grant exactly what is left, 200 times", async (t) => {
    const pair = await openPair(t, server());
    const { here, there, stores } = pair;
    const nowMs = stores.clock.nowMs();
    const day = dayOf(nowMs);
    for (let round = 0; round < ROUNDS; round += 1) {
      const owner = `account:${String(round)}`;
      const before = round % LIMIT;
      await stores.usage.add([{ owner, day, units: before }]);
      const order = { owner, daily: LIMIT, times: 15, nowMs };
      assert.equal(await grantedBy([here, there], order), LIMIT - before);
    }
    await Promise.all([here.link.quotas.flush(), there.link.quotas.flush()]);
    for (let round = 0; round < ROUNDS; round += 1) {
      const used = await stores.usage.unitsUsed(`account:${String(round)}`, day);
      assert.equal(used.inDay, LIMIT);
    }
  });

  /** What happens to Redis between the first units and the others. */
  const upheavals = [
    ["FLUSHALL", ({ admin }) => admin((client) => client.flushall())],
    [
      "a restart",
      async (pair) => {
        await pair.server.stop("end");
        await pair.server.start();
        await bothUp(pair);
      },
    ],
    ["a kill", ({ server: redis }) => redis.stop("kill").then(() => redis.start())],
    ["SCRIPT FLUSH", ({ admin }) => admin((client) => client.script("FLUSH"))],
  ] as const satisfies readonly (readonly [
    string,
    (pair: Awaited<ReturnType<typeof openPair>>) => Promise<void>,
  ])[];

  for (const [name, happen] of upheavals) {
    test(`two processes grant exactly the limit with ${name} in between`, async (t) => {
      const pair = await openPair(t, server());
      const { here, there, stores } = pair;
      const nowMs = stores.clock.nowMs();
      const owners = Array.from({ length: 50 }, (_, at) => `bucket:${String(at)}`);
      const race = (times: number) =>
        Promise.all(
          owners.map((owner) => grantedBy([here, there], { owner, daily: LIMIT, times, nowMs })),
        );
      const first = await race(7);
      await happen(pair);
      const second = await race(7);
      await bothUp(pair);
      const third = await race(7);
      for (const at of owners.keys()) {
        assert.equal((first[at] ?? 0) + (second[at] ?? 0) + (third[at] ?? 0), LIMIT);
      }
      await Promise.all([here.link.quotas.flush(), there.link.quotas.flush()]);
      for (const owner of owners) {
        assert.equal((await stores.usage.unitsUsed(owner, dayOf(nowMs))).inDay, LIMIT);
      }
    });
  }
});
