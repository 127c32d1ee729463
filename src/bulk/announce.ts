import type { Jobs } from "./jobs.ts";
import type { Clock } from "../base/clock.ts";
import type { End } from "../base/every.ts";
import type { Log } from "../base/log.ts";
import type { Owner } from "../base/owner.ts";
import type { BulkStats } from "./bulk.ts";
import { statsOf } from "./read-session.ts";

/** A batch that completed, synchronous or queued; never one that failed or was cancelled. */
export interface CompletedEvent {
  readonly owner: Owner;
  readonly session: string;
  readonly stats: BulkStats;
}

/** Called at most once for each completed batch, and exactly once unless the process dies at that moment. Never rejects. */
export type OnCompleted = (event: CompletedEvent) => Promise<void>;

interface AnnounceDeps {
  readonly jobs: Pick<Jobs, "takeCompleted">;
  readonly clock: Clock;
  readonly log: Log;
  readonly onCompleted: OnCompleted;
}

interface Announcer {
  /** Announces every completed batch that was not, from any worker. A call meanwhile makes a second round. Never rejects. */
  readonly announce: () => Promise<void>;
  readonly stop: End;
}

export function announcer({ jobs, clock, log, onCompleted }: AnnounceDeps): Announcer {
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  let isStopped = false;
  const announceAll = async (): Promise<void> => {
    while (!isStopped) {
      const batch = await jobs.takeCompleted(clock.nowMs());
      if (batch === undefined) return;
      const { owner, session } = batch;
      await onCompleted({ owner, session, stats: statsOf(batch) });
    }
  };
  const rounds = async (): Promise<void> => {
    while (isAskedAgain && !isStopped) {
      isAskedAgain = false;
      await announceAll().catch((fault: unknown) => log.error("bulk.announce_failed", fault));
    }
    running = undefined;
  };
  return {
    announce() {
      isAskedAgain = true;
      running ??= rounds();
      return running;
    },
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
