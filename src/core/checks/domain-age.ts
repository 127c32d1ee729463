import { DAY_MS, dayOf, isoDate } from "../calendar.ts";
import { type Described, Type } from "../json-schema.ts";
import type {
  Advised,
  Check,
  CheckRun,
  FieldsOf,
  CheckOutcome,
  CheckedSubject,
  AdviceWords,
} from "./check.ts";

const DomainAge = Type.Object(
  {
    registered: Type.String({ format: "date", description: "YYYY-MM-DD, UTC." }),
    age_days: Type.Integer({ description: "Whole days since then.", minimum: 0 }),
    fresh: Type.Boolean({ description: "Younger than 30 days." }),
  },
  { description: "Feature `domain_age`; absent when the registry gave no answer." },
);
export type DomainAge = Described<typeof DomainAge>;

const FIELDS = { domain_age: DomainAge };
export type DomainAgeFields = FieldsOf<typeof FIELDS>;

const FRESH_DAYS = 30;

/** The first names of the DNS were registered on this day; registries that lost a date write an older one. */
const FIRST_REGISTRATION_MS = 473_385_600_000;

/** Undefined when the registry's date cannot be true. Up to a day ahead is a clock or a time zone, and counts as today. */
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
  { domain }: CheckedSubject,
  { lookup, nowMs }: CheckRun,
): Promise<CheckOutcome<DomainAgeFields>> {
  if (domain.registrableDomain === undefined) return {};
  const answer = await lookup.registration(domain.registrableDomain);
  if (answer.kind === "unknown") return "unavailable";
  const [registration] = answer.kind === "found" ? answer.records : [];
  const age = registration === undefined ? undefined : ageOf(registration.registeredAtMs, nowMs);
  return age === undefined ? {} : { domain_age: age };
}

function advise({ domain_age: age }: Advised & DomainAgeFields): AdviceWords {
  if (age === undefined) {
    const says = "The registry of this domain does not say when it was registered.";
    return { state: "unknown", says };
  }
  const { registered, age_days: days, fresh } = age;
  const since = `The domain was registered on ${registered}`;
  if (!fresh) return { state: "good", says: `${since}, ${days} days ago.` };
  const ago = days === 0 ? "today" : days === 1 ? "a day ago" : `${days} days ago`;
  return {
    state: "warn",
    says: `${since}, ${ago}. Receivers trust such young domains little, and many of them are thrown away soon.`,
    fix: "Send little at first, to people who answer, and raise the volume over some weeks.",
  };
}

export const domainAge: Check<"domain_age", typeof FIELDS> = {
  name: "domain_age",
  title: "Age",
  about: "When the domain was registered.",
  fields: FIELDS,
  questions: 0, // it asks the registry, not DNS
  run,
  advise,
};
