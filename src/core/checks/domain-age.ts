import { DAY_MS, dayOf, isoDate } from "../calendar.ts";
import type { Check, CheckRun, DomainAge, Outcome, Subject } from "./check.ts";

/** Younger than this is fresh. */
const FRESH_DAYS = 30;

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
  return {
    registered: isoDate(dayOf(registeredAtMs)),
    age_days: ageDays,
    fresh: ageDays < FRESH_DAYS,
  };
}

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
