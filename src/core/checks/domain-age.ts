import type { Check, CheckRun, DomainAge, Outcome, Subject } from "./check.ts";

/** Younger than this is fresh. */
export const FRESH_DAYS = 30;

const DAY_MS = 86_400_000;
const DAYS_OF_400_YEARS = 146_097;

/** From 0000-03-01 to 1970-01-01. */
const DAYS_0000_TO_1970 = 719_468;

/** The first names of the DNS were registered on this day; registries that lost a date write an older one. */
const FIRST_REGISTRATION_MS = 473_385_600_000;

/**
 * The API's fields for a moment of registration; undefined when the registry's date cannot be true.
 * A date up to a day ahead is a clock or a time zone, and counts as today.
 */
export function ageOf(registeredAtMs: number, nowMs: number): DomainAge | undefined {
  const elapsedMs = nowMs - registeredAtMs;
  if (!(registeredAtMs >= FIRST_REGISTRATION_MS) || !(elapsedMs >= -DAY_MS)) return undefined;
  const ageDays = Math.max(0, Math.floor(elapsedMs / DAY_MS));
  return { registered: isoDay(registeredAtMs), age_days: ageDays, fresh: ageDays < FRESH_DAYS };
}

/**
 * YYYY-MM-DD, UTC, of a moment after 1970: the Gregorian calendar in years that begin in March, so that the
 * leap day ends one (the core holds no clock, and so no `Date`).
 */
function isoDay(atMs: number): string {
  const day = Math.floor(atMs / DAY_MS) + DAYS_0000_TO_1970;
  const era = Math.floor(day / DAYS_OF_400_YEARS);
  const dayOfEra = day - era * DAYS_OF_400_YEARS;
  const leapDays =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const month = Math.floor((5 * dayOfYear + 2) / 153); // 0 is March
  const dayOfMonth = dayOfYear - Math.floor((153 * month + 2) / 5) + 1;
  const year = era * 400 + yearOfEra + (month >= 10 ? 1 : 0);
  return [pad(year, 4), pad(((month + 2) % 12) + 1, 2), pad(dayOfMonth, 2)].join("-");
}

const pad = (value: number, digits: number): string => String(value).padStart(digits, "0");

async function run(
  { domain }: Subject,
  { lookup, nowMs }: CheckRun,
): Promise<Outcome<{ readonly domain_age: DomainAge }>> {
  // Registries know registrable domains only; a public suffix has no registration of its own.
  if (domain.registrableDomain === undefined) return { kind: "nothing" };
  const answer = await lookup.registration(domain.registrableDomain);
  if (answer.kind === "unknown") return { kind: "unavailable" };
  const [registration] = answer.kind === "found" ? answer.records : [];
  const age = registration === undefined ? undefined : ageOf(registration.registeredAtMs, nowMs);
  return age === undefined ? { kind: "nothing" } : { kind: "done", fields: { domain_age: age } };
}

/** `domain_age` (RFC 9083 section 4.5, event "registration"). No DNS question. */
export const domainAge: Check<{ readonly domain_age: DomainAge }> = { run };
