import { dayOf, isoDate } from "../core/calendar.ts";
import { type Decision, DECISIONS } from "../core/policy/policy.ts";
import type { Keys } from "../accounts/keys.ts";
import type { Hooks } from "./hooks-store.ts";
import type { OutcomeCountRow } from "../store/tables/policy.ts";
import type { Outcomes } from "./outcomes.ts";
import type { OutcomeReport } from "./gate-shapes.ts";
import type { Clock } from "../base/clock.ts";

type ByDecision = Readonly<Record<Decision, number>>;

export const OUTCOME_DAYS = 400;

export type ReportOutcomes = (accountId: string, days: number) => Promise<OutcomeReport>;

export interface OutcomeReportDeps {
  readonly outcomes: Pick<Outcomes, "ofAccount">;
  readonly keys: Pick<Keys, "list">;
  readonly hooks: Pick<Hooks, "list">;
  readonly clock: Pick<Clock, "nowMs">;
}

export function createOutcomeReport(deps: OutcomeReportDeps): ReportOutcomes {
  return async (accountId, days) => {
    const today = dayOf(deps.clock.nowMs());
    const fromDay = today - days + 1;
    const firstDay = Math.max(fromDay - days, today - OUTCOME_DAYS + 1);
    const known = await deps.outcomes.ofAccount(accountId, firstDay);
    const rows = known.filter(({ day }) => day >= fromDay);
    const names = await namesOf(accountId, deps);
    return {
      days: daysOf(rows, fromDay, days),
      before: daysOf(known, firstDay, fromDay - firstDay),
      reasons: reasonsOf(rows),
      keys: mostFirst(
        [...grouped(rows, ({ key_id: keyId }) => keyId)].map(([keyId, some]) => ({
          key_id: keyId === "" ? null : keyId,
          name: names.get(keyId) ?? null,
          ...sums(some),
        })),
      ),
      forms: mostFirst(
        [...grouped(rows, ({ form }) => form)].map(([form, some]) => ({
          form: form === "" ? null : form,
          ...sums(some),
        })),
      ),
      total: rows.reduce((all, { count }) => all + count, 0),
    };
  };
}

function daysOf(
  rows: readonly OutcomeCountRow[],
  first: number,
  length: number,
): OutcomeReport["days"] {
  const byDay = grouped(rows, ({ day }) => String(day));
  return Array.from({ length }, (_, at) => ({
    day: isoDate(first + at),
    ...sums(byDay.get(String(first + at)) ?? []),
  }));
}

async function namesOf(
  accountId: string,
  { keys, hooks }: OutcomeReportDeps,
): Promise<ReadonlyMap<string, string>> {
  const named = (await keys.list(accountId)).map(({ id, name }) => [id, name] as const);
  const hooked = (await hooks.list(accountId)).map(
    ({ id, system }) => [`hook:${id}`, system] as const,
  );
  return new Map([...named, ...hooked]);
}

function grouped(
  rows: readonly OutcomeCountRow[],
  by: (row: OutcomeCountRow) => string,
): ReadonlyMap<string, readonly OutcomeCountRow[]> {
  const groups = new Map<string, OutcomeCountRow[]>();
  for (const row of rows) {
    const key = by(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

function sums(rows: readonly OutcomeCountRow[]): ByDecision {
  const sum: Record<Decision, number> = { accept: 0, challenge: 0, review: 0, reject: 0 };
  for (const { decision, count } of rows) sum[decision] += count;
  return sum;
}

function reasonsOf(rows: readonly OutcomeCountRow[]): OutcomeReport["reasons"] {
  const counted = [...grouped(rows, ({ decision, reason }) => `${decision} ${reason}`).values()];
  return counted
    .flatMap(([first, ...more]) => {
      if (first === undefined) return [];
      const count = more.reduce((all, row) => all + row.count, first.count);
      return { decision: first.decision, reason: first.reason, count };
    })
    .toSorted((a, b) => b.count - a.count);
}

const totalOf = (row: ByDecision): number =>
  DECISIONS.reduce((all, decision) => all + row[decision], 0);

const mostFirst = <T extends ByDecision>(rows: readonly T[]): readonly T[] =>
  rows.toSorted((a, b) => totalOf(b) - totalOf(a));
