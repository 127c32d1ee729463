import { pruneSessions } from "../../bulk/sessions.ts";
import { pruneCounters } from "../../accounts/admission/shared-counters.ts";
import { sqlRegistrationCache } from "../../check/registration-cache.ts";
import { DAY_MS } from "../../core/calendar.ts";
import { keepSessions } from "../../bulk/keep-house.ts";
import type { Begin } from "../../store/elections.ts";
import { createHousekeeping } from "../../accounts/housekeeping.ts";
import { every } from "../../base/every.ts";
import type { Tiers } from "../../accounts/admission/tiers.ts";
import type { Duties } from "../feeds/duties.ts";
import type { Lists } from "../feeds/lists.ts";
import type { Process } from "../process/open-process.ts";
import type { Backing } from "./backing/backing.ts";
import { pruneDashboard } from "./dashboard.ts";
import { pruneGate } from "./prune-gate.ts";

interface Kept extends Pick<Process, "clock" | "log"> {
  readonly backing: Pick<Backing, "store" | "ledgers">;
  readonly tiers: Tiers;
  readonly lists: Pick<Lists, "prune">;
}

const FIRST_AFTER_MS = 60_000;

/** Deletes daily what is kept no longer, first a minute after it began. */
export function housekeepingDuty({ backing, tiers, clock, log, lists }: Kept): Begin {
  const { store, ledgers } = backing;
  const { usage, charges } = ledgers;
  const prune = createHousekeeping({ usage, charges, tiers });
  const registrations = sqlRegistrationCache(store.sql.db);
  const round = async (): Promise<void> => {
    const pruned = await prune(clock.nowMs());
    const expired = await registrations.prune(clock.nowMs());
    await lists.prune();
    await pruneDashboard(store, clock.nowMs());
    await pruneGate(store, clock);
    await pruneCounters(store.sql.db, clock.nowMs());
    log.info("housekeeping.done", { ...pruned, registrations: expired });
  };
  return () => {
    const failed = (fault: unknown): void => log.error("housekeeping.failed", fault);
    return Promise.resolve(every({ ms: DAY_MS, firstMs: FIRST_AFTER_MS, clock, failed }, round));
  };
}

/** Deletes expired sessions on PostgreSQL, whose own vacuum makes the disk forget them. */
export function sessionsDuty({
  backing,
  clock,
  log,
}: Pick<Kept, "backing" | "clock" | "log">): Duties {
  const { db } = backing.store.sql;
  const sessions = { prune: (nowMs: number) => pruneSessions(db, nowMs) };
  const scrub = (): Promise<void> => Promise.resolve();
  return { sessions: () => Promise.resolve(keepSessions({ sessions, scrub, clock, log })) };
}
