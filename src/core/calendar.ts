/** The UTC calendar as plain numbers: a day is counted from the Unix epoch, leap seconds do not exist (POSIX). */

export const DAY_MS = 86_400_000;

export const dayOf = (nowMs: number): number => Math.floor(nowMs / DAY_MS);

export const monthStart = (day: number): number => day - new Date(day * DAY_MS).getUTCDate() + 1;

export const nextMonthStart = (day: number): number => monthStart(monthStart(day) + 31);

/** "2026-11-20" (ISO 8601). */
export const isoDate = (day: number): string => isoTime(day * DAY_MS).slice(0, 10);

/** "2026-11-20T12:00:00.000Z" (ISO 8601). `timeMs` is cut to whole milliseconds. */
export const isoTime = (timeMs: number): string => new Date(Math.floor(timeMs)).toISOString();

/** The same where a record has no such time: JSON says null. */
export const isoTimeOrNull = (timeMs: number | null | undefined): string | null =>
  typeof timeMs === "number" ? isoTime(timeMs) : null;

/** The day of "2026-11-20"; undefined for any other form and for dates that no calendar has. */
export function dayOfDate(text: string): number | undefined {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) / DAY_MS : NaN;
  return Number.isInteger(day) && isoDate(day) === text ? day : undefined;
}

/** "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7). */
export const httpTime = (ms: number): string => new Date(ms).toUTCString();

const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/** The instant of such a time; NaN for any other form. */
export const httpTimeMs = (text: string): number =>
  IMF_FIXDATE.test(text) ? Date.parse(text) : NaN;
