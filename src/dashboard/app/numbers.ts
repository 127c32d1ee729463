import { language, LOCALE, plural, t } from "./i18n.ts";

const NUMBERS = language === "en" ? "en-US" : LOCALE;
const WHOLE = new Intl.NumberFormat(NUMBERS);
const SHARE = new Intl.NumberFormat(NUMBERS, { style: "percent", maximumFractionDigits: 1 });
const COMPACT = new Intl.NumberFormat(NUMBERS, { notation: "compact" });
const PARTS = new Intl.NumberFormat(NUMBERS, { maximumFractionDigits: 1 });

/** "12,480". */
export const count = (value: number): string => WHOLE.format(value);

/** "12.5K", for an axis. */
export const shortCount = (value: number): string => COMPACT.format(value);

/** "88.9%" of a share from 0 to 1. */
export const percent = (share: number): string =>
  share > 0 && share < 0.001 ? `< ${SHARE.format(0.001)}` : SHARE.format(share);

/** "1 check", "12,480 checks": both sentences hold {n}. */
export const counted = (value: number, one: string, many: string): string =>
  t(plural(value, one, many), { n: count(value) });

/** "143 ms", "1.2 s", "10 s". */
export const duration = (ms: number): string =>
  ms < 1_000 ? `${count(Math.round(ms))} ms` : `${PARTS.format(ms / 1_000)} s`;

/** "9.2 MB". */
export const megabytes = (octets: number): string => `${PARTS.format(octets / 1_000_000)} MB`;

/** "no limit" for null. */
export const limitText = (value: number | null): string =>
  value === null ? t("no limit") : count(value);
