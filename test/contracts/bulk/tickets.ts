import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Queue } from "../../../src/ports/bulk/queue.ts";
import type { Ticket, Tickets } from "../../../src/ports/bulk/tickets.ts";
import type { Make } from "../contract.ts";

export interface TicketsFixture {
  readonly queue: Queue;
  readonly worker: (name: string) => Tickets;
  /** Redis restarts and has lost everything. */
  readonly empty: () => Promise<void>;
}

/** Takes and finishes tickets until none is left; returns their number. */
export async function drain(tickets: Tickets): Promise<number> {
  for (let count = 0; ; count += 1) {
    const ticket = await next(tickets);
    if (ticket === undefined) return count;
    await ticket.done();
  }
}

/** The next ticket; the first request to an empty queue does not wait, so it is repeated. */
const next = async (tickets: Tickets): Promise<Ticket | undefined> =>
  (await tickets.take()) ?? (await tickets.take());

const job = (letter: string, chunks: number) => ({ session: letter.repeat(32), chunks });

type Register = (name: string, body: (t: TestContext) => Promise<void>) => void;

/** `register` is `test` unless the fixture needs what may be missing. */
export function ticketsContract(
  name: string,
  make: Make<TicketsFixture>,
  register: Register = (title, body) => void test(title, body),
): void {
  const rule = (sentence: string, check: (fixture: TicketsFixture) => Promise<void>): void => {
    register(`${name}: ${sentence}`, async (t) => check(await make(t)));
  };

  rule(
    "a job has one ticket for each chunk, also when it is announced again",
    async ({ queue, worker }) => {
      for (const work of [job("a", 7), job("a", 7), job("b", 2)]) await queue.wake(work);
      assert.equal(await drain(worker("w1")), 9);
    },
  );

  rule("each ticket goes to one worker", async ({ queue, worker }) => {
    const [first, second] = [worker("w1"), worker("w2")];
    await queue.wake(job("a", 40));
    const counts = await Promise.all([drain(first), drain(second)]);
    assert.equal(counts[0] + counts[1], 40);
  });

  rule("a waiting worker gets a ticket at once", async ({ queue, worker }) => {
    const tickets = worker("w1");
    // Both are connected after this, so only one call must arrive within the wait.
    await queue.wake(job("a", 1));
    assert.equal(await drain(tickets), 1);
    const waiting = tickets.take();
    await queue.wake(job("b", 1));
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

  rule("an emptied queue works with new tickets", async ({ queue, worker, empty }) => {
    const tickets = worker("w1");
    await queue.wake(job("a", 5));
    const held = await next(tickets);
    await empty();
    await held?.done();
    let found = 0;
    for (let tries = 0; found === 0 && tries < 10; tries += 1) {
      await queue.wake(job("b", 3)).catch(() => undefined);
      found = await drain(tickets);
    }
    assert.equal(found, 3);
  });
}
