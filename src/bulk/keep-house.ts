import type { Kysely } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Jobs } from "./jobs.ts";
import type { Log } from "../base/log.ts";
import { pruneSessions } from "./sessions.ts";
import { type End, every } from "../base/every.ts";
import type { Database } from "../store/schema.ts";

/** The longest time that a stuck job stays after its last worker, and a session on disk after its end. */
const KEEP_HOUSE_EVERY_MS = 5_000;

interface House {
  readonly clock: Clock;
  readonly log: Log;
}

const repeat = (task: () => Promise<void>, { clock, log }: House): End =>
  every(
    {
      ms: KEEP_HOUSE_EVERY_MS,
      firstMs: 0,
      clock,
      failed: (fault) => log.error("bulk.housekeeping_failed", fault),
    },
    task,
  );

interface KeepJobsDeps extends House {
  readonly jobs: Pick<Jobs, "failStuck">;
  readonly announce: () => Promise<void>;
}

/** Fails jobs that are stuck and announces what was left; where refunds are counted. */
export function keepJobs(deps: KeepJobsDeps): End {
  const { jobs, announce, clock, log } = deps;
  return repeat(async () => {
    const failed = await jobs.failStuck(clock.nowMs());
    if (failed > 0) log.warn("bulk.jobs_failed", { failed });
    await announce();
  }, deps);
}

interface KeepSessionsDeps extends House {
  readonly db: Kysely<Database>;
  readonly scrub: () => Promise<void>;
}

/** At most so often, for others wait for it. */
const SCRUB_EVERY_MS = 60_000;

/** Deletes expired sessions, and makes the disk forget them; one process at a time need do it. */
export function keepSessions(deps: KeepSessionsDeps): End {
  const { db, scrub, clock } = deps;
  let isScrubDue = false;
  let scrubbedMs = -Infinity;
  return repeat(async () => {
    if ((await pruneSessions(db, clock.nowMs())) > 0) isScrubDue = true;
    if (!isScrubDue || clock.monotonicMs() - scrubbedMs < SCRUB_EVERY_MS) return;
    isScrubDue = false;
    scrubbedMs = clock.monotonicMs();
    await scrub();
  }, deps);
}
