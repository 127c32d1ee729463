import assert from "node:assert/strict";
import { openTicketQueue, type TicketQueue } from "../../src/adapters/bullmq/ticket-queue.ts";
import { openTickets } from "../../src/adapters/bullmq/tickets.ts";
import type { Tickets } from "../../src/ports/bulk/tickets.ts";
import { givenMsOf } from "../time/given-time.ts";
import { keptLog } from "../process/kept-log.ts";
import { realClock as clock } from "../time/real-clock.ts";
import { hasTool, testWith } from "../process/require-tool.ts";
import { type CutLine, openCutLine } from "../services/cut-line.ts";
import { type RedisServer, startRedis } from "../services/redis.ts";

interface World {
  readonly redis: RedisServer;
  readonly line: CutLine;
  readonly queue: TicketQueue;
  readonly worker: (name: string) => Tickets;
}

const missing = hasTool("redis-server") ? [] : ["redis-server"];

function rule(sentence: string, check: (world: World) => Promise<void>): void {
  testWith(["redis-server"], missing, `tickets: ${sentence}`, async () => {
    const redis = await startRedis();
    const line = await openCutLine(redis.port);
    const url = `redis://127.0.0.1:${String(line.port)}`;
    const log = keptLog();
    const queue = openTicketQueue(url, { clock, log });
    const workers: Tickets[] = [];
    try {
      const worker = (name: string): Tickets => {
        const made = openTickets(url, { clock, log, name });
        workers.push(made);
        return made;
      };
      await check({ redis, line, queue, worker });
    } finally {
      await Promise.all([queue.close(), ...workers.map((worker) => worker.close())]);
      await line.close();
      await redis.close();
    }
  });
}

/** Takes and finishes tickets until none is left; returns their number. */
async function drain(tickets: Tickets): Promise<number> {
  for (let count = 0; ; count += 1) {
    const ticket = await next(tickets);
    if (ticket === undefined) return count;
    await ticket.done();
  }
}

/** The next ticket; the first request to an empty queue does not wait, so it is repeated. */
const next = async (tickets: Tickets) => (await tickets.take()) ?? (await tickets.take());

rule(
  "a job has one ticket for each chunk, also when it is announced again",
  async ({ queue, worker }) => {
    await queue.wake({ session: "a".repeat(32), chunks: 7 });
    await queue.wake({ session: "a".repeat(32), chunks: 7 });
    await queue.wake({ session: "b".repeat(32), chunks: 2 });
    assert.equal(await drain(worker("w1")), 9);
  },
);

rule("each ticket goes to one worker", async ({ queue, worker }) => {
  const [first, second] = [worker("w1"), worker("w2")];
  await queue.wake({ session: "a".repeat(32), chunks: 40 });
  const counts = await Promise.all([drain(first), drain(second)]);
  assert.equal(counts[0] + counts[1], 40);
});

rule("a waiting worker gets a ticket at once", async ({ queue, worker }) => {
  const tickets = worker("w1");
  // Both are connected after this, so only one call must arrive within the wait.
  await queue.wake({ session: "a".repeat(32), chunks: 1 });
  assert.equal(await drain(tickets), 1);
  const waiting = tickets.take();
  await queue.wake({ session: "b".repeat(32), chunks: 1 });
  assert.ok((await waiting) !== undefined);
});

rule("close ends a wait, and later waits return nothing", async ({ worker }) => {
  const tickets = worker("w1");
  await tickets.take();
  const waiting = tickets.take();
  await tickets.close();
  assert.equal(await waiting, undefined);
  assert.equal(await tickets.take(), undefined);
});

for (const how of ["cut", "freeze"] as const) {
  rule(
    `an unreachable Redis (${how}) delays nothing, and tickets flow again afterwards`,
    async ({ line, queue, worker }) => {
      const tickets = worker("w1");
      await queue.wake({ session: "a".repeat(32), chunks: 1 });
      assert.equal(await drain(tickets), 1);
      await line[how]();
      const wokenMs = await givenMsOf(() =>
        assert.rejects(queue.wake({ session: "b".repeat(32), chunks: 1 }), /does not answer/),
      );
      assert.ok(wokenMs < 3_000, `${String(wokenMs)} ms`);
      const takenMs = await givenMsOf(async () => assert.equal(await tickets.take(), undefined));
      assert.ok(takenMs < 4_000, `${String(takenMs)} ms`);
      await line.mend();
      let found = 0;
      for (let tries = 0; found === 0 && tries < 10; tries += 1) {
        await queue.wake({ session: "c".repeat(32), chunks: 1 }).catch(() => undefined);
        found = await drain(tickets);
      }
      assert.ok(found > 0, "tickets flow again");
    },
  );
}

rule("an emptied Redis works with new tickets", async ({ redis, queue, worker }) => {
  const tickets = worker("w1");
  await queue.wake({ session: "a".repeat(32), chunks: 5 });
  const held = await next(tickets);
  await redis.stop("kill");
  await redis.start();
  await held?.done();
  let found = 0;
  for (let tries = 0; found === 0 && tries < 10; tries += 1) {
    await queue.wake({ session: "b".repeat(32), chunks: 3 }).catch(() => undefined);
    found = await drain(tickets);
  }
  assert.equal(found, 3);
});
