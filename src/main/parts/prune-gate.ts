import { sqlHooks } from "../../gate/hooks-store.ts";
import { sqlOutcomes } from "../../gate/outcomes-store.ts";
import { dayOf } from "../../core/calendar.ts";
import { OUTCOME_DAYS } from "../../gate/outcome-report.ts";
import { SHADOW_DAYS } from "../../gate/policies.ts";
import type { AccountStore } from "./backing/store.ts";

/** Deletes counts that are kept no longer; to be called daily. */
export async function pruneGate({ sql: { db } }: AccountStore, nowMs: number): Promise<void> {
  const today = dayOf(nowMs);
  await sqlOutcomes(db).prune(today - SHADOW_DAYS + 1, today - OUTCOME_DAYS + 1);
  await sqlHooks(db).prune(today - OUTCOME_DAYS + 1);
}
