/** Times and numbers for people, mostly without `Intl`, whose first use takes 40 ms, on phones 160. */

export const nowMs = (): number => Date.now();

export const timeMs = (iso: string): number => Date.parse(iso);

let exact: Intl.DateTimeFormat | undefined;
let relative: Intl.RelativeTimeFormat | undefined;

/** "20 November 2026 at 13:40:00 CET", in the reader's time zone, which it names: charts run by UTC. */
export const exactTime = (ms: number): string =>
  (exact ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "long" })).format(ms);

const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );

/** "20 November 2026" for "2026-11-20". */
export function shownDay(date: string): string {
  const [year = "", month, day] = date.split("-");
  const name = MONTHS[Number(month) - 1];
  return name === undefined ? date : `${String(Number(day))} ${name} ${year}`;
}

export function stampTime(ms: number): string {
  const [date = "", time = ""] = new Date(ms).toISOString().split("T");
  return `${shownDay(date)} at ${time.slice(0, 5)} UTC`;
}

/** "20 Nov" for "2026-11-20". */
export const shortDay = (date: string): string => shownDay(date).replace(/^(\d+ \w{3}).*/, "$1");

const STEPS = [
  ["second", 1_000, 60_000],
  ["minute", 60_000, 3_600_000],
  ["hour", 3_600_000, 86_400_000],
  ["day", 86_400_000, 30 * 86_400_000],
  ["month", 30 * 86_400_000, 365 * 86_400_000],
  ["year", 365 * 86_400_000, Infinity],
] as const;

export function relativeTime(ms: number): string {
  const gap = ms - nowMs();
  if (Math.abs(gap) < 10_000) return "just now";
  const [unit, sizeMs] = STEPS.find(([, , below]) => Math.abs(gap) < below) ?? STEPS[5];
  relative ??= new Intl.RelativeTimeFormat("en-GB", { numeric: "auto" });
  return relative.format(Math.round(gap / sizeMs), unit);
}

export const isoIn = (seconds: number): string => new Date(nowMs() + seconds * 1_000).toISOString();

const tenths = (value: number): string => String(Math.round(value * 10) / 10);

export const count = (value: number): string => String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");

export const shortCount = (value: number): string =>
  value < 1e3 ? String(value) : value < 1e6 ? `${tenths(value / 1e3)}K` : `${tenths(value / 1e6)}M`;

export const percent = (part: number): string =>
  part > 0 && part < 0.001 ? "< 0.1%" : `${tenths(part * 100)}%`;

/** "1 check", "12,480 checks"; `many` for a plural that is more than an "s". */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${plural(value, one, many)}`;

export const duration = (ms: number): string =>
  ms < 1_000 ? `${String(Math.round(ms))} ms` : `${tenths(ms / 1_000)} s`;

export const bytes = (octets: number): string =>
  octets < 1e9 ? `${tenths(octets / 1e6)} MB` : `${tenths(octets / 1e9)} GB`;

export const limitText = (value: number | null): string =>
  value === null ? "no limit" : count(value);

export const plural = (value: number, one: string, many: string): string =>
  value === 1 ? one : many;

export const joined = (names: readonly string[]): string =>
  names.join(", ").replace(/, ([^,]*)$/, " and $1");

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const sumOf = <Row>(rows: readonly Row[], pick: (row: Row) => number): number =>
  rows.reduce((total, row) => total + pick(row), 0);
