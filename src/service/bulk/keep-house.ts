import type { Clock } from "../../ports/clock.ts";
import type { Jobs } from "../../ports/jobs.ts";
import type { Log } from "../../ports/log.ts";
import type { SessionStore } from "../../ports/session-store.ts";

/** So long a session outlives its end on disk, at most, and a stuck job its last worker. */
export const KEEP_HOUSE_EVERY_MS = 5_000;

export interface KeepHouseDeps {
  readonly jobs: Pick<Jobs, "failStuck">;
  readonly sessions: Pick<SessionStore, "prune">;
  /** Tells of completed batches that a crash kept from being told. */
  readonly announce: () => Promise<void>;
  /** Makes the disk forget what was deleted. */
  readonly scrub: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Fails jobs that are stuck, announces what was left, and deletes expired sessions from disk, now and every
 * five seconds. The returned function stops it.
 */
export function keepHouse(deps: KeepHouseDeps): () => void {
  let callOff = (): void => undefined;
  let isStopped = false;
  const round = async (): Promise<void> => {
    await sweep(deps);
    if (!isStopped) callOff = deps.clock.after(KEEP_HOUSE_EVERY_MS, () => void round());
  };
  void round();
  return () => {
    isStopped = true;
    callOff();
  };
}

async function sweep({
  jobs,
  sessions,
  announce,
  scrub,
  clock,
  log,
}: KeepHouseDeps): Promise<void> {
  try {
    const failed = await jobs.failStuck(clock.nowMs());
    if (failed > 0) log.warn("bulk.jobs_failed", { failed });
    await announce();
    if ((await sessions.prune(clock.nowMs())) > 0) await scrub();
  } catch (fault) {
    log.error("bulk.keep_house_failed", fault);
  }
}
