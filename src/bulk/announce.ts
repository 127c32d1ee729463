import type { Jobs } from "./jobs.ts";
import type { Clock } from "../base/clock.ts";
import { type End, every } from "../base/every.ts";
import type { Log } from "../base/log.ts";
import type { Owner } from "../base/owner.ts";
import type { Tx } from "../store/transaction.ts";
import type { BulkStats } from "./bulk.ts";
import { statsOf } from "./sessions.ts";

/** A batch that completed, synchronous or queued; never one that failed or was cancelled. */
export interface CompletedEvent {
  readonly owner: Owner;
  readonly session: string;
  readonly stats: BulkStats;
}

export interface Announcement {
  /** Writes what is told, in the transaction that marks the batch as announced. */
  readonly write: (tx: Tx, event: CompletedEvent) => Promise<void>;
  readonly written: () => void;
}

interface AnnounceDeps {
  readonly jobs: Pick<Jobs, "unannounced" | "announce">;
  readonly clock: Clock;
  readonly log: Log;
  readonly announcement: Announcement;
}

interface Announcer {
  /** Announces every completed batch that was not, from any worker. A call meanwhile makes a second round. Never rejects. */
  readonly announce: () => Promise<void>;
  readonly stop: End;
}

/** Between two looks for what failed, and for what processes that died have left. */
const LOOK_EVERY_MS = 1_000;

export function announcer({ jobs, clock, log, announcement }: AnnounceDeps): Announcer {
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  let isStopped = false;
  const announceAll = async (): Promise<void> => {
    const faults: unknown[] = [];
    for (const session of await jobs.unannounced()) {
      if (isStopped) break;
      const write: Parameters<Jobs["announce"]>[1] = (tx, batch) =>
        announcement.write(tx, { owner: batch.owner, session, stats: statsOf(batch) });
      await jobs.announce(session, write).then(announcement.written, (fault: unknown) => {
        faults.push(fault);
      });
    }
    if (faults.length > 0) throw faults[0];
  };
  const rounds = async (): Promise<void> => {
    try {
      while (isAskedAgain && !isStopped) {
        isAskedAgain = false;
        await announceAll();
      }
    } finally {
      running = undefined;
    }
  };
  const round = (): Promise<void> => {
    isAskedAgain = true;
    running ??= rounds();
    return running;
  };
  const failed = (fault: unknown): void => log.error("bulk.announce_failed", fault);
  const endLooks = every({ ms: LOOK_EVERY_MS, firstMs: 0, clock, failed }, round);
  return {
    // A round that fails is repeated, and its fault logged, by the next look.
    announce: () => round().catch(() => undefined),
    async stop() {
      isStopped = true;
      await Promise.all([endLooks(), running?.catch(() => undefined)]);
    },
  };
}
