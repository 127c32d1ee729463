import type { Answer, Registration, Unknown } from "../../core/mail/lookup.ts";
import { DAY_MS, dayOfDate, httpTimeMs } from "../../core/calendar.ts";

type Digits = string | undefined;

/** Hours, minutes and seconds in milliseconds; a leap second counts as the second after (RFC 3339 section 5.7). */
function timeMs(hours: Digits, minutes: Digits, seconds: Digits): number | undefined {
  const [h, m, s] = [Number(hours ?? 0), Number(minutes ?? 0), Number(seconds ?? 0)];
  return h <= 23 && m <= 59 && s <= 60 ? ((h * 60 + m) * 60 + s) * 1_000 : undefined;
}

const RFC_3339 =
  /^(?!0000)(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(?:[.,]\d{1,12})?(?:[Zz]|([+-])(\d\d):?(\d\d))?)?$/;

/** RFC 9083 section 4.5: RFC 3339. A date alone, and a time without a zone, are read as UTC: registries send them. */
export function eventDateMs(text: string): number | undefined {
  const found = RFC_3339.exec(text) ?? [];
  const [, date = "", hours, minutes, seconds, sign, offsetHours, offsetMinutes] = found;
  const day = dayOfDate(date);
  const time = timeMs(hours, minutes, seconds);
  const offset = timeMs(offsetHours, offsetMinutes, undefined);
  if (day === undefined || time === undefined || offset === undefined) return undefined;
  return day * DAY_MS + time - (sign === "-" ? -offset : offset);
}

/** Milliseconds that a Retry-After header asks for (RFC 9110 section 10.2.3); undefined when it says nothing. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const untilMs = httpTimeMs(header);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, untilMs - nowMs);
}

const MALFORMED: Unknown = { kind: "unknown", why: "malformed" };

export function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The oldest "registration" (RFC 9083 sections 4.5 and 5.3), or `absent`; `unknown` for an answer about another object. */
export function readDomainAnswer(body: Uint8Array, domain: string): Answer<Registration> {
  const object = readJson(body);
  if (!isRecord(object) || object["objectClassName"] !== "domain") return MALFORMED;
  if (!isAbout(object["ldhName"], domain)) return MALFORMED;
  const events = object["events"];
  if (events !== undefined && !Array.isArray(events)) return MALFORMED;
  const registrations = (events ?? []).filter(isRegistrationEvent);
  if (registrations.length === 0) return { kind: "absent", why: "noData" };
  const dates = registrations.flatMap(({ eventDate: date }) =>
    typeof date === "string" ? (eventDateMs(date) ?? []) : [],
  );
  if (dates.length === 0) return MALFORMED;
  return { kind: "found", records: [{ registeredAtMs: Math.min(...dates) }] };
}

/** RFC 9083 section 3 makes `ldhName` optional; any case and a last dot are allowed to it. */
function isAbout(ldhName: unknown, domain: string): boolean {
  if (ldhName === undefined) return true;
  return typeof ldhName === "string" && ldhName.toLowerCase().replace(/\.$/, "") === domain;
}

function isRegistrationEvent(value: unknown): value is { readonly eventDate?: unknown } {
  if (!isRecord(value)) return false;
  const action = value["eventAction"];
  return typeof action === "string" && action.toLowerCase() === "registration";
}
