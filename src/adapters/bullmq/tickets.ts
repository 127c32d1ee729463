import { type Job, Worker } from "bullmq";
import type { Redis } from "ioredis";
import type { Clock } from "../../ports/process/clock.ts";
import { inTime } from "../../ports/process/in-time.ts";
import type { Log } from "../../ports/process/log.ts";
import type { Ticket, Tickets } from "../../ports/bulk/tickets.ts";
import { connect, PLACE } from "./connect.ts";

export interface TicketsDeps {
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "warn">;
  /** The worker's own name. */
  readonly name: string;
}

/**
 * A ticket is out for the moment that a claim takes. One whose worker died then is given out once more, and
 * after that the database alone answers for its chunk.
 */
const LOCK_MS = 10_000;
const STALLED_AFTER_MS = 10_000;
const STALLED_MAX = 1;

/** How long one question to an empty queue waits there, in seconds. */
const WAIT_SECONDS = 2;

/** How long `take` waits in all, and `done` for its answer. */
const TAKE_WITHIN_MS = 3_000;
const DONE_WITHIN_MS = 1_000;

/** The worker's side of the tickets. */
export function openTickets(url: string, deps: TicketsDeps): Tickets {
  return new BullTickets(connect(url, deps.log), deps);
}

class BullTickets implements Tickets {
  readonly #deps: TicketsDeps;
  readonly #connection: Redis;
  readonly #worker: Worker;
  /** A late answer may still bring a ticket, which must be used. */
  #asked: Promise<Job | undefined> | undefined;
  #isClosed = false;
  #endTake = (): void => undefined;

  constructor(connection: Redis, deps: TicketsDeps) {
    this.#deps = deps;
    this.#connection = connection;
    this.#worker = new Worker(PLACE.name, null, {
      connection,
      prefix: PLACE.prefix,
      name: deps.name,
      autorun: false,
      skipVersionCheck: true,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_AFTER_MS,
      maxStalledCount: STALLED_MAX,
      drainDelay: WAIT_SECONDS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker.on("error", () => undefined); // said by the connection
    this.#worker.startStalledCheckTimer().catch(() => undefined);
  }

  async take(): Promise<Ticket | undefined> {
    if (this.#isClosed) return undefined;
    const { clock, name } = this.#deps;
    this.#asked ??= this.#worker.getNextJob(name).catch(() => this.#pause());
    const closed = new Promise<undefined>((resolve) => {
      this.#endTake = () => resolve(undefined);
    });
    const first = Promise.race([this.#asked, closed]).then((job) => ({ job }));
    const answer = await inTime(first, { timeoutMs: TAKE_WITHIN_MS, late: undefined, clock });
    if (answer === undefined) return undefined;
    this.#asked = undefined;
    return answer.job === undefined ? undefined : this.#ticket(answer.job);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endTake();
    this.#connection.disconnect();
    await inTime(
      this.#worker.close(true).catch(() => undefined),
      { timeoutMs: DONE_WITHIN_MS, late: undefined, clock: this.#deps.clock },
    );
  }

  #ticket(job: Job): Ticket {
    const { clock, name } = this.#deps;
    return {
      async done() {
        // A ticket that is not removed is delivered again, and then leads to any waiting chunk.
        const gone = job.moveToCompleted(null, name, false).catch(() => undefined);
        await inTime(gone, { timeoutMs: DONE_WITHIN_MS, late: undefined, clock });
      },
    };
  }

  /** The pause after a refusal by Redis. */
  #pause(): Promise<undefined> {
    return new Promise((resolve) => {
      this.#deps.clock.after(WAIT_SECONDS * 1_000, () => resolve(undefined));
    });
  }
}
