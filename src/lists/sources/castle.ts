import { dayOfDate } from "../../core/calendar.ts";
import { bundledText, castleRows } from "./packages.ts";

/** A name with the first and the last day it was seen, counted from the Unix epoch, UTC. */
export interface DatedName {
  readonly name: string;
  readonly sinceDay: number;
  readonly seenDay: number;
}

const dayNumber = (date: string): number => dayOfDate(date) ?? 0;

/** The names of castle's day lists that come with the release (`feeds/castle.csv`), with their days. */
export function castleDays(): readonly DatedName[] {
  const days = new Map<string, number>();
  const numberOf = (date: string): number => {
    const known = days.get(date) ?? dayNumber(date);
    days.set(date, known);
    return known;
  };
  return castleRows(bundledText("castle")).map(([name = "", since = "", seen = ""]) => ({
    name,
    sinceDay: numberOf(since),
    seenDay: numberOf(seen),
  }));
}
