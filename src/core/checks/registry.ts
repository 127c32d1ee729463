import { type ObjectSchema, type Optional, type Schema, Type } from "../json-schema.ts";
import type { Check, FieldSchemas, FieldsOf } from "./check.ts";
import { deliverability } from "./deliverability.ts";
import { dkim } from "./dkim/dkim.ts";
import { dmarc } from "./dmarc/dmarc.ts";
import { domainAge } from "./domain-age.ts";
import { inboxProvider } from "./inbox-provider.ts";
import { spamTrap } from "./spam-trap.ts";
import { spf } from "./spf/spf.ts";

/** This is the order of fields. DKIM probes with the questions that SPF and DMARC leave, the score reads the fields of all. */
const ALL = [spf, dmarc, dkim, domainAge, inboxProvider, deliverability] as const;

export type Feature = (typeof ALL)[number]["name"];

export const FEATURES: readonly Feature[] = ALL.map(({ name }) => name);

const REGISTRATIONS = [spamTrap, ...ALL] as const;

type FieldsOfAll<List> = List extends readonly [
  { readonly fields: infer S extends FieldSchemas },
  ...infer Rest,
]
  ? FieldsOf<S> & FieldsOfAll<Rest>
  : unknown;

type Flat<T> = { readonly [Name in keyof T]: T[Name] };

export type PremiumFields = Flat<FieldsOfAll<typeof REGISTRATIONS>>;

export const CHECKS: readonly Check<Feature, Record<never, Schema>, PremiumFields>[] = ALL;

type PremiumSchemas = {
  readonly [Name in keyof PremiumFields]-?: Optional<NonNullable<PremiumFields[Name]>>;
};

export const PREMIUM_SCHEMAS: PremiumSchemas = schemas();

function schemas(): PremiumSchemas {
  const all = new Map<string, Schema[]>();
  for (const { fields } of REGISTRATIONS) {
    for (const [name, schema] of Object.entries<Schema>(fields)) {
      all.set(name, [...(all.get(name) ?? []), schema]);
    }
  }
  const entries = [...all].map(([name, parts]) => [name, Type.Optional(joined(parts))]);
  return Object.fromEntries(entries) as PremiumSchemas; // every name of every registration stands in it
}

function joined(parts: readonly Schema[]): Schema {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  const properties = parts.map((part) => (part as ObjectSchema<FieldSchemas>).properties);
  return Object.assign({}, ...parts, { properties: Object.assign({}, ...properties) }) as Schema;
}
