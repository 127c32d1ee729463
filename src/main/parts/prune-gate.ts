import { sqlHooks } from "../../gate/hooks-store.ts";
import { sqlOutcomes } from "../../gate/outcomes-store.ts";
import { dayOf } from "../../core/calendar.ts";
import { OUTCOME_DAYS } from "../../gate/outcome-report.ts";
import { pruneDecisions } from "../../gate/decision-log.ts";
import { pruneFeedback } from "../../gate/feedback.ts";
import { sqlTraffic } from "../../gate/traffic-store.ts";
import { SHADOW_DAYS } from "../../gate/policies.ts";
import type { Clock } from "../../base/clock.ts";
import type { AccountStore } from "./backing/store.ts";

/** Deletes counts that are kept no longer; to be called daily. */
export async function pruneGate(
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
