import { pruneCounters } from "../accounts/admission/shared-counters.ts";
import type { Tiers } from "../accounts/admission/tiers.ts";
import { pruneHours } from "../accounts/hour-counts.ts";
import { AUDIT_MS, sqlAuditLog } from "../accounts/audit.ts";
import { sqlGuesses } from "../accounts/guesses.ts";
import { createHousekeeping } from "../accounts/housekeeping.ts";
import { sqlSignIns } from "../accounts/sign-in/sign-ins.ts";
import type { Clock } from "../base/clock.ts";
import { sweepDrafts } from "../base/drafts.ts";
import { every } from "../base/every.ts";
import { keepSessions } from "../bulk/keep-house.ts";
import { pruneSessions } from "../bulk/sessions.ts";
import { sqlRegistrationCache } from "../check/registration-store.ts";
import { DAY_MS, dayOf } from "../core/calendar.ts";
import { pruneDecisions } from "../gate/decision-log.ts";
import { pruneFeedback } from "../gate/feedback.ts";
import { sqlHooks } from "../gate/hooks-store.ts";
import { OUTCOME_DAYS } from "../gate/outcome-report.ts";
import { sqlOutcomes } from "../gate/outcomes-store.ts";
import { SHADOW_DAYS } from "../gate/policies.ts";
import { sqlTraffic } from "../gate/traffic-store.ts";
import type { Begin, Duties } from "../store/elections.ts";
import { rdapFolder } from "./checker.ts";
import type { Lists } from "./lists.ts";
import type { Process } from "./process.ts";
import type { AccountStore, Backing } from "./store.ts";

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

/** Deletes counts that are kept no longer; to be called daily. */
async function pruneGate(
  { sql: { db } }: AccountStore,
  clock: Pick<Clock, "nowMs">,
): Promise<void> {
  const today = dayOf(clock.nowMs());
  await sqlOutcomes(db).prune(today - SHADOW_DAYS + 1, today - OUTCOME_DAYS + 1);
  await sqlTraffic(db, clock).prune(clock.nowMs());
  await pruneFeedback(db, clock.nowMs());
  await pruneDecisions(db, clock.nowMs());
  await sqlHooks(db).prune(today - OUTCOME_DAYS + 1);
}

/** At a start: what killed processes left half written in the data directory goes. */
export function tidyUp({ config: { dataDir }, clock, log }: Process): void {
  const folders = [dataDir, rdapFolder(dataDir)];
  const files = sweepDrafts(folders, clock.nowMs());
  if (files > 0) log.info("start.drafts_deleted", { files });
}

/** Deletes sessions that are over and log entries that are too old; to be called daily. */
async function pruneDashboard({ sql: { db } }: AccountStore, nowMs: number): Promise<void> {
  await sqlSignIns(db).prune(nowMs);
  await sqlGuesses(db).prune(nowMs - DAY_MS);
  await sqlAuditLog(db).prune(nowMs - AUDIT_MS);
  await pruneHours(db, nowMs);
}
