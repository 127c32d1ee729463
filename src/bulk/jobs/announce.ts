import type { Jobs } from "./jobs.ts";
import type { Clock } from "../../base/clock.ts";
import { type End, every } from "../../base/every.ts";
import { inRounds } from "../../base/rounds.ts";
import type { Log } from "../../base/log.ts";
import type { Owner } from "../../base/owner.ts";
import type { Tx } from "../../store/transaction.ts";
import type { BulkStats } from "./bulk-shapes.ts";
import { statsOf } from "./sessions.ts";

export interface CompletedEvent {
  readonly owner: Owner;
  readonly session: string;
  readonly stats: BulkStats;
}

export interface Announcement {
  readonly write: (tx: Tx, event: CompletedEvent) => Promise<void>;
  readonly written: () => void;
}

interface AnnouncerDeps {
  readonly jobs: Pick<Jobs, "unannounced" | "announce">;
  readonly clock: Clock;
  readonly log: Log;
  readonly announcement: Announcement;
}

interface Announcer {
  /** Announces every completed batch that was not, from any worker; during a round another one follows. Never rejects. */
  readonly announce: () => Promise<void>;
  readonly stop: End;
}

/** How often it looks for what failed, and for what processes that died have left. */
const LOOK_EVERY_MS = 1_000;

export function announcer({ jobs, clock, log, announcement }: AnnouncerDeps): Announcer {
  let isStopped = false;
  const announceAll = async (): Promise<void> => {
    const faults: unknown[] = [];
    for (const session of isStopped ? [] : await jobs.unannounced()) {
      if (isStopped) break;
      const write: Parameters<Jobs["announce"]>[1] = (tx, batch) =>
        announcement.write(tx, { owner: batch.owner, session, stats: statsOf(batch) });
      await jobs.announce(session, write).then(announcement.written, (fault: unknown) => {
        faults.push(fault);
      });
    }
    if (faults.length > 0) throw faults[0];
  };
  const round = inRounds(announceAll);
  const failed = (fault: unknown): void => log.error("bulk.announce_failed", fault);
  const endLooks = every({ ms: LOOK_EVERY_MS, firstMs: 0, clock, failed }, round);
  return {
    announce: () => round().catch(() => undefined), // the next look logs a fault
    async stop() {
      isStopped = true;
      await Promise.all([endLooks(), round().catch(() => undefined)]); // what was under way is over then
    },
  };
}
