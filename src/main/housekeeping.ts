import { pruneCounters } from "../accounts/admission/shared-counters.ts";
import { AUDIT_MS, AuditLog } from "../accounts/audit.ts";
import { Guesses } from "../accounts/guesses.ts";
import { pruneRequestCounts } from "../accounts/request-counts.ts";
import { pruneUsage } from "../accounts/housekeeping.ts";
import { SignIns } from "../accounts/sign-in/sign-ins.ts";
import { every } from "../base/every.ts";
import { keepSessions } from "../bulk/keep-house.ts";
import { pruneListHistory } from "../bulk/list-store.ts";
import { pruneRegistrations } from "../check/registration-store.ts";
import { DAY_MS, dayOf } from "../core/calendar.ts";
import { pruneDecisions } from "../gate/decision-log.ts";
import { pruneFeedback } from "../gate/feedback.ts";
import { Hooks } from "../gate/hooks-store.ts";
import { OUTCOME_DAYS } from "../gate/outcome-report.ts";
import { Outcomes } from "../gate/outcomes.ts";
import { SHADOW_DAYS } from "../gate/policies.ts";
import { pruneWaves } from "../gate/waves.ts";
import { TrafficStore } from "../gate/traffic-store.ts";
import { type Duties, startDuties } from "../store/elections.ts";
import type { Process } from "./process.ts";
import type { Serving } from "./serving.ts";

/** Follows changes of the lists and does what one process at a time does; alone, the bulk thread looks after sessions. */
export function startUpkeep(process: Process, serving: Serving, ofLists: Duties): void {
  const { clock, log, closing } = process;
  const { backing, lists } = serving;
  const { db } = backing.store.sql;
  lists.start();
  const failed = (fault: unknown): void => log.error("housekeeping.failed", fault);
  const daily = { ms: DAY_MS, firstMs: FIRST_AFTER_MS, clock, failed };
  const scrub = (): Promise<void> => Promise.resolve(); // PostgreSQL's vacuum makes the disk forget
  const sessions: Duties =
    backing.where === "alone"
      ? {}
      : { sessions: () => Promise.resolve(keepSessions({ db, scrub, clock, log })) };
  const housekeeping = () => Promise.resolve(every(daily, () => keepHouse(process, serving)));
  const duties = { ...ofLists, ...sessions, housekeeping };
  const started = startDuties(duties, { elections: backing.elections, clock, log });
  closing.add(() => started.stop());
}

const FIRST_AFTER_MS = 60_000;

async function keepHouse({ clock, log }: Process, serving: Serving): Promise<void> {
  const { backing, tiers, lists } = serving;
  const { usage, charges, store } = backing;
  const { db } = store.sql;
  const nowMs = clock.nowMs();
  const today = dayOf(nowMs);
  const pruned = await pruneUsage({ usage, charges, tiers }, nowMs);
  const registrations = await pruneRegistrations(db, nowMs);
  await lists.prune();
  await new SignIns(db).prune(nowMs);
  await new Guesses(db).prune(nowMs - DAY_MS);
  await new AuditLog(db).prune(nowMs - AUDIT_MS);
  await pruneRequestCounts(db, nowMs);
  await new Outcomes(db).prune(today - SHADOW_DAYS + 1, today - OUTCOME_DAYS + 1);
  await new TrafficStore(db, clock).prune(nowMs);
  await pruneWaves(db, nowMs);
  await pruneListHistory(db, nowMs);
  await pruneFeedback(db, nowMs);
  await pruneDecisions(db, nowMs);
  await new Hooks(db).prune(today - OUTCOME_DAYS + 1);
  await pruneCounters(db, nowMs);
  log.info("housekeeping.done", { ...pruned, registrations });
}
