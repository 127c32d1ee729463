import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { openTicketQueue, type TicketQueue } from "../../../src/adapters/bullmq/ticket-queue.ts";
import { openTickets } from "../../../src/adapters/bullmq/tickets.ts";
import type { Tickets } from "../../../src/ports/bulk/tickets.ts";
import { drain, ticketsContract } from "../../contracts/bulk/tickets.ts";
import { givenMsOf } from "../../time/given-time.ts";
import { keptLog } from "../../process/kept-log.ts";
import { realClock as clock } from "../../time/real-clock.ts";
import { hasTool, testWith } from "../../process/require-tool.ts";
import { type CutLine, openCutLine } from "../../services/cut-line.ts";
import { startRedis } from "../../services/redis.ts";

interface World {
  readonly line: CutLine;
  readonly queue: TicketQueue;
  readonly worker: (name: string) => Tickets;
  readonly empty: () => Promise<void>;
}

const missing = hasTool("redis-server") ? [] : ["redis-server"];

async function openWorld(t: TestContext): Promise<World> {
  const redis = await startRedis();
  const line = await openCutLine(redis.port);
  const url = `redis://127.0.0.1:${String(line.port)}`;
  const log = keptLog();
  const queue = openTicketQueue(url, { clock, log });
  const workers: Tickets[] = [];
  t.after(async () => {
    await Promise.all([queue.close(), ...workers.map((worker) => worker.close())]);
    await line.close();
    await redis.close();
  });
  return {
    line,
    queue,
    worker(name) {
      const made = openTickets(url, { clock, log, name });
      workers.push(made);
      return made;
    },
    async empty() {
      await redis.stop("kill");
      await redis.start();
    },
  };
}

ticketsContract("tickets", openWorld, (name, body) =>
  testWith(["redis-server"], missing, name, body),
);

for (const how of ["cut", "freeze"] as const) {
  const name = `tickets: an unreachable Redis (${how}) delays nothing, and tickets flow again afterwards`;
  testWith(["redis-server"], missing, name, async (t) => {
    const { line, queue, worker } = await openWorld(t);
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
  });
}
