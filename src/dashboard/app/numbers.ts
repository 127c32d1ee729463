import { once, plural, t } from "./i18n.ts";

const NUMBERS = "en-US";
const numbers = (options: Intl.NumberFormatOptions): (() => Intl.NumberFormat) =>
  once(() => new Intl.NumberFormat(NUMBERS, options));

const whole = numbers({});
const share = numbers({ style: "percent", maximumFractionDigits: 1 });
const compact = numbers({ notation: "compact" });
const parts = numbers({ maximumFractionDigits: 1 });

/** "12,480". Small figures are the same in every language, and a first verdict has no time for `Intl`. */
export const count = (value: number): string =>
  value >= 0 && value < 1_000 && Number.isInteger(value) ? String(value) : whole().format(value);

/** "12.5K", for an axis. */
export const shortCount = (value: number): string => compact().format(value);

/** "88.9%" of a share from 0 to 1. */
export const percent = (part: number): string =>
  part > 0 && part < 0.001 ? `< ${share().format(0.001)}` : share().format(part);

/** "1 check", "12,480 checks": both sentences hold {n}. */
export const counted = (value: number, one: string, many: string): string =>
  t(plural(value, one, many), { n: count(value) });

/** "143 ms", "1.2 s", "10 s". */
export const duration = (ms: number): string =>
  ms < 1_000 ? `${count(Math.round(ms))} ms` : `${parts().format(ms / 1_000)} s`;

/** "9.2 MB". */
export const megabytes = (octets: number): string => `${parts().format(octets / 1_000_000)} MB`;

/** "no limit" for null. */
export const limitText = (value: number | null): string =>
  value === null ? t("no limit") : count(value);
