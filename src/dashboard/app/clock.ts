import { LOCALE, t } from "./i18n.ts";

/** The only file of the dashboard that looks at the clock. */

export const nowMs = (): number => Date.now();

/** NaN for a text that is no time. */
export const timeMs = (iso: string): number => Date.parse(iso);

const EXACT = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric",
  month: "long",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});
const DAY = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});
const STAMP = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric",
  month: "long",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" });

/** "20 November 2026 at 13:40 CET", in the reader's time zone, which it names: charts run by UTC. */
export const exactTime = (ms: number): string => EXACT.format(ms);

/** "20 November 2026 at 13:40 UTC". */
export const stampTime = (ms: number): string => `${STAMP.format(ms)} UTC`;

/** "20 November 2026" for "2026-11-20". */
export const shownDay = (date: string): string => DAY.format(timeMs(`${date}T00:00:00Z`));

const SHORT_DAY = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});

/** "20 Nov" for "2026-11-20". */
export const shortDay = (date: string): string => SHORT_DAY.format(timeMs(`${date}T00:00:00Z`));

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
  return RELATIVE.format(Math.round(gap / sizeMs), unit);
}

/** "14:03" left of a span; never below zero. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, "0")}`;
}
