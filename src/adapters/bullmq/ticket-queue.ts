import { Queue as BullQueue } from "bullmq";
import type { Clock } from "../../ports/process/clock.ts";
import { inTime } from "../../ports/process/in-time.ts";
import type { Log } from "../../ports/process/log.ts";
import type { Queue } from "../../ports/bulk/queue.ts";
import { connect, PLACE } from "./connect.ts";

export interface TicketQueueDeps {
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "warn">;
}

export interface TicketQueue extends Queue {
  /** Leaves no socket. */
  close(): Promise<void>;
}

/** The longest wait for Redis; the database finds chunks whose ticket was not added. */
const ADD_WITHIN_MS = 2_000;

/** The length of BullMQ's event log, which is not used. */
const EVENTS_KEPT = 100;

/** Adds one ticket for each chunk of a job. A ticket is named after its chunk, so that none is there twice. */
export function openTicketQueue(url: string, { clock, log }: TicketQueueDeps): TicketQueue {
  const connection = connect(url, log);
  const queue = new BullQueue(PLACE.name, {
    connection,
    prefix: PLACE.prefix,
    skipVersionCheck: true,
    streams: { events: { maxLen: EVENTS_KEPT } },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  queue.on("error", () => undefined); // said by the connection
  return {
    async wake({ session, chunks }) {
      const tickets = Array.from({ length: chunks }, (_, number) => ({
        name: "chunk",
        data: null,
        opts: { jobId: `${session}-${String(number)}` },
      }));
      const added = queue.addBulk(tickets).then(() => true);
      added.catch(() => undefined);
      if (await inTime(added, { timeoutMs: ADD_WITHIN_MS, late: false, clock })) return;
      throw new Error("the tickets' Redis does not answer");
    },
    async close() {
      connection.disconnect();
      await queue.close().catch(() => undefined);
    },
  };
}
