import { t } from "../app/i18n.ts";

const BROWSERS = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const;

const SYSTEMS = [
  [/\bAndroid\b/, "Android"],
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
] as const;

type Table = readonly (readonly [RegExp, string])[];

const nameIn = (table: Table, text: string): string | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

/** "Firefox on Linux" for a User-Agent; a guess, for people to tell their browsers apart. */
export function browserName(userAgent: string): string {
  const browser = nameIn(BROWSERS, userAgent) ?? t("A browser");
  const system = nameIn(SYSTEMS, userAgent);
  return system === undefined ? browser : t("{browser} on {system}", { browser, system });
}
