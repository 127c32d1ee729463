/** The UTC calendar as plain numbers: a day is counted from the Unix epoch, leap seconds do not exist (POSIX). */

export const DAY_MS = 86_400_000;

export const dayOf = (nowMs: number): number => Math.floor(nowMs / DAY_MS);

/** Days of the four-century cycle of the Gregorian calendar, and from 0000-03-01 to 1970-01-01. */
const CYCLE_DAYS = 146_097;
const EPOCH_OFFSET_DAYS = 719_468;

/** The proleptic Gregorian date of a day; years are counted from March, so a leap day ends its year. */
export function civilDate(day: number): readonly [year: number, month: number, dayOfMonth: number] {
  const shifted = day + EPOCH_OFFSET_DAYS;
  const cycle = Math.floor(shifted / CYCLE_DAYS);
  const dayOfCycle = shifted - cycle * CYCLE_DAYS;
  const leapDays =
    Math.floor(dayOfCycle / 1_460) -
    Math.floor(dayOfCycle / 36_524) +
    Math.floor(dayOfCycle / 146_096);
  const yearOfCycle = Math.floor((dayOfCycle - leapDays) / 365);
  const dayOfYear =
    dayOfCycle - (365 * yearOfCycle + Math.floor(yearOfCycle / 4) - Math.floor(yearOfCycle / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return [cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0), month, dayOfMonth];
}

export const monthStart = (day: number): number => day - civilDate(day)[2] + 1;

export const nextMonthStart = (day: number): number => monthStart(monthStart(day) + 31);

const padded = (value: number, digits: number): string => String(value).padStart(digits, "0");

/** "2026-11-20" (ISO 8601). */
export function isoDate(day: number): string {
  const [year, month, dayOfMonth] = civilDate(day);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(dayOfMonth, 2)}`;
}

/** "2026-11-20T12:00:00.000Z" (ISO 8601). `timeMs` is cut to whole milliseconds. */
export function isoTime(timeMs: number): string {
  const day = dayOf(timeMs);
  const ms = Math.floor(timeMs) - day * DAY_MS;
  const hours = padded(Math.floor(ms / 3_600_000), 2);
  const minutes = padded(Math.floor(ms / 60_000) % 60, 2);
  const seconds = padded(Math.floor(ms / 1_000) % 60, 2);
  return `${isoDate(day)}T${hours}:${minutes}:${seconds}.${padded(ms % 1_000, 3)}Z`;
}

/** The same where a record has no such time: JSON says null. */
export const isoTimeOrNull = (timeMs: number | null | undefined): string | null =>
  typeof timeMs === "number" ? isoTime(timeMs) : null;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The day of "2026-11-20"; undefined for any other form and for dates that no calendar has. */
export function dayOfDate(text: string): number | undefined {
  const [, year, month, dayOfMonth] = DATE.exec(text) ?? [];
  if (year === undefined) return undefined;
  // Never off by more than two days, which the loop makes good.
  const months = Number(year) * 12 + Number(month) - 1 - 1_970 * 12;
  const guess = Math.floor((months * CYCLE_DAYS) / 4_800) + Number(dayOfMonth) - 1;
  for (let day = guess - 3; day <= guess + 3; day += 1) if (isoDate(day) === text) return day;
  return undefined;
}

const WEEKDAYS = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]; // the epoch was a Thursday
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7). */
export function httpTime(ms: number): string {
  const day = dayOf(ms);
  const [year, month, dayOfMonth] = civilDate(day);
  const date = [padded(dayOfMonth, 2), MONTHS[month - 1], padded(year, 4)].join(" ");
  return `${WEEKDAYS[day % 7] ?? ""}, ${date} ${isoTime(ms).slice(11, 19)} GMT`;
}
