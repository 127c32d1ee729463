import { DAY_MS, dayOf, isoTime } from "../calendar.ts";

/** As spreadsheets show a number: with 15 digits. */
export function numberText(value: string): string {
  const number = value === "" ? NaN : Number(value);
  if (!Number.isFinite(number)) return value;
  return String(value.length < 16 ? number : Number(number.toPrecision(15)));
}

/** What a cell with a date or a time shows of its number, days since 1899-12-31; undefined: nothing that is one. */
export type DateFormat = (days: number, is1904?: boolean) => string | undefined;

/** Excel takes 255. */
const FORMAT_UNITS = 1_000;

/** Formats without a code (ECMA-376 part 1, section 18.8.30), as far as they do not follow the reader's country. */
const BUILT_IN: Readonly<Record<number, string>> = {
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm AM/PM",
  19: "h:mm:ss AM/PM",
  20: "h:mm",
  21: "h:mm:ss",
  45: "mm:ss",
  46: "[h]:mm:ss",
  47: "mm:ss.0",
};

const LOCAL = new Set([14, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58]);

const TOKEN = /"[^"]*"?|\\.|[_*].|\[[^\]]*\]?|am\/pm|a\/p|y+|m+|d+|h+|s+|\.0+|[^]/gi;

/** Months in words of another language, eras, and what the reader's system says. */
const UNKNOWN = /\[\$-(?:F|[^\]]*(?!09)[\da-f]{2}\])|[bge]/i;

const MONTHS =
  "January February March April May June July August September October November December";
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday";

/** Undefined for other numbers. A format that follows the reader's country gives an ISO date. */
export function dateFormat(id: number, code = BUILT_IN[id]): DateFormat | undefined {
  if (code === undefined) return LOCAL.has(id) ? isoDate : undefined;
  const [section = ""] = code.slice(0, FORMAT_UNITS).split(";", 1);
  const tokens = section.match(TOKEN) ?? [];
  const parts = tokens.filter((token) => /^(?:[ymdhs]|\[[hms]+\])/i.test(token));
  if (parts.length === 0 || /general/i.test(section)) return undefined;
  const signs = tokens.filter((token) => !/^["\\_*]/.test(token)).join("");
  if (UNKNOWN.test(signs.replace(/\[[a-z]+\d*\]/gi, ""))) return isoDate;
  const hasDate = parts.some((part) => /^[yd]|^mmm/i.test(part));
  const isHalf = /am\/pm|a\/p/i.test(signs);
  const minutes = minutesIn(tokens);
  const stepMs = parts.length < tokens.length && /\.0/.test(signs) ? 1 : 1_000;
  return (days, is1904 = false) => {
    if (!(days >= (hasDate ? 1 : 0) && days < LAST_DAY + 1)) return undefined;
    const moment = momentOf(days, is1904, stepMs);
    const shown = (token: string, at: number): string => {
      const show = minutes.has(at) ? minute : SHOWN[token[0]?.toLowerCase() ?? ""];
      return show?.(token, moment, isHalf) ?? token;
    };
    return tokens.map(shown).join("").trim();
  };
}

const LAST_DAY = 2_958_465;

/** Where "m" is of minutes: behind hours, or before seconds. */
function minutesIn(tokens: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>();
  let before = "";
  let month = -1;
  for (const [at, token] of tokens.entries()) {
    const [letter = ""] = /^\[?([ymdhs])/i.exec(token)?.[1]?.toLowerCase() ?? "";
    if (letter === "") continue;
    if (letter === "m" && before === "h") found.add(at);
    if (letter === "s" && before === "m") found.add(month);
    if (letter === "m") month = at;
    before = letter;
  }
  return found;
}

interface Moment {
  readonly days: number;
  /** ISO 8601, to the millisecond. */
  readonly text: string;
  readonly weekday: number;
}

function momentOf(days: number, is1904: boolean, stepMs: number): Moment {
  // Excel has a February 29 in 1900.
  const since = is1904 ? 24_107 : days < 60 ? 25_568 : 25_569;
  const ms = Math.round(((days - since) * DAY_MS) / stepMs) * stepMs;
  return { days, text: isoTime(ms), weekday: (((dayOf(ms) + 4) % 7) + 7) % 7 };
}

const isoDate: DateFormat = (days, is1904 = false) => {
  if (!(days >= 1 && days < LAST_DAY + 1)) return undefined;
  return momentOf(days, is1904, 1_000).text.slice(0, Number.isInteger(days) ? 10 : 19);
};

type ShowToken = (token: string, moment: Moment, isHalf: boolean) => string;

const numbered = (token: string, value: number): string =>
  String(value).padStart(Math.min(token.length, 2), "0");

const part =
  (from: number) =>
  (token: string, { text }: Moment) =>
    numbered(token, Number(text.slice(from, from + 2)));

const minute = part(14);

const hourOf = ({ text }: Moment): number => Number(text.slice(11, 13));

/** By the first letter or sign of a token; others stand for themselves. */
const SHOWN: Readonly<Record<string, ShowToken>> = {
  '"': (token) => token.replaceAll('"', ""),
  "\\": (token) => token.slice(1),
  _: () => " ",
  "*": () => "",
  "[": (token, { days }) => elapsed(token, days),
  ".": (token, { text }) => (token === "." ? token : text.slice(19, 19 + token.length)),
  a: (token, moment) => token.split("/")[hourOf(moment) < 12 ? 0 : 1] ?? token,
  y: ({ length }, { text }) => text.slice(length > 2 ? 0 : 2, 4),
  m: (token, moment) =>
    token.length < 3
      ? part(5)(token, moment)
      : named(MONTHS, Number(moment.text.slice(5, 7)) - 1, token),
  d: (token, moment) =>
    token.length < 3 ? part(8)(token, moment) : named(DAYS, moment.weekday, token),
  h: (token, moment, isHalf) => {
    const hour = hourOf(moment);
    return numbered(token, isHalf ? hour % 12 || 12 : hour);
  },
  s: part(17),
};

function named(names: string, at: number, { length }: string): string {
  const name = names.split(" ")[at] ?? "";
  return length === 3 ? name.slice(0, 3) : length === 5 ? name.slice(0, 1) : name;
}

const UNITS: Readonly<Record<string, number>> = { h: 24, m: 1_440, s: 86_400 };

/** "[hh]" counts on behind 24; other brackets name a colour or a language. */
function elapsed(token: string, days: number): string {
  const unit = /^\[([hms])\1*\]$/i.exec(token)?.[1]?.toLowerCase();
  const count = Math.floor(days * (UNITS[unit ?? ""] ?? 0) + 1e-6);
  return unit === undefined ? "" : String(count).padStart(token.length - 2, "0");
}
