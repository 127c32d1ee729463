import { LOCALE, once, t } from "./i18n.ts";

/** The only file of the dashboard that looks at the clock. */

export const nowMs = (): number => Date.now();

/** NaN for a text that is no time. */
export const timeMs = (iso: string): number => Date.parse(iso);

const times = (options: Intl.DateTimeFormatOptions): (() => Intl.DateTimeFormat) =>
  once(() => new Intl.DateTimeFormat(LOCALE, options));

const exact = times({
  day: "numeric",
  month: "long",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});
const short = times({ day: "numeric", month: "short", timeZone: "UTC" });
const relative = once(() => new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" }));

/** "20 November 2026 at 13:40 CET", in the reader's time zone, which it names: charts run by UTC. */
export const exactTime = (ms: number): string => exact().format(ms);

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;

/** "20 November 2026" for "2026-11-20". A verdict has such days: the first use of `Intl` takes 40 ms, on phones 160. */
export function shownDay(date: string): string {
  const [year = "", month, day] = date.split("-");
  const name = MONTHS[Number(month) - 1];
  return name === undefined
    ? date
    : t("{day} {month} {year}", { day: Number(day), month: t(name), year });
}

/** "20 November 2026 at 13:40 UTC". */
export function stampTime(ms: number): string {
  const [date = "", time = ""] = new Date(ms).toISOString().split("T");
  return t("{date} at {time} UTC", { date: shownDay(date), time: time.slice(0, 5) });
}

/** "20 Nov" for "2026-11-20". */
export const shortDay = (date: string): string => short().format(timeMs(`${date}T00:00:00Z`));

const STEPS = [
  ["second", 1_000, 60_000],
  ["minute", 60_000, 3_600_000],
  ["hour", 3_600_000, 86_400_000],
  ["day", 86_400_000, 30 * 86_400_000],
  ["month", 30 * 86_400_000, 365 * 86_400_000],
  ["year", 365 * 86_400_000, Infinity],
] as const;

/** "3 minutes ago", "tomorrow". */
export function relativeTime(ms: number, fromMs: number): string {
  const gap = ms - fromMs;
  if (Math.abs(gap) < 10_000) return t("just now");
  const [unit, sizeMs] = STEPS.find(([, , below]) => Math.abs(gap) < below) ?? STEPS[5];
  return relative().format(Math.round(gap / sizeMs), unit);
}

/** "14:03" left of a span; never below zero. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, "0")}`;
}
