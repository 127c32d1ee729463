import { shortDay } from "../app/clock.ts";
import { t } from "../app/i18n.ts";

/** More bars than this become weeks. */
const BARS_MAX = 90;
const WEEK = 7;

export interface Steps {
  readonly names: readonly string[];
  readonly isWeekly: boolean;
  /** One figure a bar. */
  readonly sums: (values: readonly number[]) => readonly number[];
}

interface Counted {
  readonly date: string;
  readonly isUsed: boolean;
}

/** How many of the first days are left out of a chart: those before the account was there, YYYY-MM-DD, or used. */
export function daysBefore(created: string, days: readonly Counted[]): number {
  return Math.max(
    0,
    days.findIndex(({ date, isUsed }) => date >= created || isUsed),
  );
}

/** The bars of a chart for days given as YYYY-MM-DD: days, or weeks of which the last ends today. */
export function stepsOf(dates: readonly string[]): Steps {
  if (dates.length <= BARS_MAX) {
    return { names: dates.map(shortDay), isWeekly: false, sums: (values) => values };
  }
  const starts = Array.from({ length: Math.ceil(dates.length / WEEK) }, (_, at) =>
    Math.max(0, dates.length - (at + 1) * WEEK),
  ).reverse();
  const end = (at: number): number => starts[at + 1] ?? dates.length;
  return {
    names: starts.map((start) => t("week from {day}", { day: shortDay(dates[start] ?? "") })),
    isWeekly: true,
    sums: (values) =>
      starts.map((start, at) =>
        values.slice(start, end(at)).reduce((sum, value) => sum + value, 0),
      ),
  };
}
