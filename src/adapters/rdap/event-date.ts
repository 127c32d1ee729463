const DAY_MS = 86_400_000;
const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** Leap days in the years before `year`, from year 1. */
const leapDaysBefore = (year: number): number =>
  Math.floor((year - 1) / 4) - Math.floor((year - 1) / 100) + Math.floor((year - 1) / 400);

const EPOCH_DAY = 1969 * 365 + leapDaysBefore(1970);

type Digits = string | undefined;

/**
 * Midnight UTC of a Gregorian date, in milliseconds since the Unix epoch; undefined when there is no such
 * day. `month` is a number from 1 or an English name of at least three letters.
 */
export function dateMs(year: Digits, month: Digits, day: Digits): number | undefined {
  const index = monthIndex(month ?? "");
  const [y, d] = [Number(year), Number(day)];
  const length = (MONTH_DAYS[index] ?? 0) + (index === 1 && isLeap(y) ? 1 : 0);
  if (!(y >= 1) || !(d >= 1 && d <= length)) return undefined;
  const before = MONTH_DAYS.slice(0, index).reduce((sum, days) => sum + days, 0);
  const leapDay = index > 1 && isLeap(y) ? 1 : 0;
  const days = (y - 1) * 365 + leapDaysBefore(y) + before + leapDay + d - 1;
  return (days - EPOCH_DAY) * DAY_MS;
}

function monthIndex(month: string): number {
  const named = MONTHS.indexOf(month.slice(0, 3).toLowerCase());
  return named >= 0 ? named : Number(month) - 1;
}

/** Hours, minutes and seconds in milliseconds; a leap second counts as the second after (RFC 3339 section 5.7). */
function timeMs(hours: Digits, minutes: Digits, seconds: Digits): number | undefined {
  const [h, m, s] = [Number(hours ?? 0), Number(minutes ?? 0), Number(seconds ?? 0)];
  return h <= 23 && m <= 59 && s <= 60 ? ((h * 60 + m) * 60 + s) * 1_000 : undefined;
}

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(?:[.,]\d{1,12})?(?:[Zz]|([+-])(\d\d):?(\d\d))?)?$/;

/**
 * An RDAP event date (RFC 9083 section 4.5: RFC 3339) in milliseconds since the Unix epoch, fractions of a
 * second dropped. A date alone, and a time without a zone, are read as UTC, for registries do send them.
 */
export function eventDateMs(text: string): number | undefined {
  const found = RFC_3339.exec(text) ?? [];
  const [, year, month, day, hours, minutes, seconds, sign, offsetHours, offsetMinutes] = found;
  const date = dateMs(year, month, day);
  const time = timeMs(hours, minutes, seconds);
  const offset = timeMs(offsetHours, offsetMinutes, undefined);
  if (date === undefined || time === undefined || offset === undefined) return undefined;
  return date + time - (sign === "-" ? -offset : offset);
}

const IMF_FIXDATE = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/;

/** Milliseconds that a Retry-After header asks for (RFC 9110 section 10.2.3); undefined when it says nothing. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const [, day, month, year, hours, minutes, seconds] = IMF_FIXDATE.exec(header) ?? [];
  const date = dateMs(year, month, day);
  const time = timeMs(hours, minutes, seconds);
  if (date === undefined || time === undefined) return undefined;
  return Math.max(0, date + time - nowMs);
}
