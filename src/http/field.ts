import type { Optional, Schema } from "../core/json-schema.ts";
import type { Params } from "./params.ts";

/**
 * A parameter of the API, or a member of the dashboard's JSON: documented and read from one place. `read` gets the
 * value as JSON has it, the text of a form or query, or undefined; it throws the `Refusal` of a wrong value.
 */
export interface Field<T> {
  readonly schema: Schema<T> | Optional<T>;
  readonly read: (value: unknown, name: string) => T;
  /** How a request gives the value. Absent: `params.value`, where "+" of a form is a blank. */
  readonly from?: (params: Params, name: string) => unknown;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

export type FieldValues<F extends Fields> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never;
};

/** The values of all fields of a request to the API. */
export const readFields = <F extends Fields>(fields: F, params: Params): FieldValues<F> =>
  valuesOf(fields, (name, { from }) => {
    const value = from === undefined ? params.value(name) : from(params, name);
    return value ?? undefined;
  });

/** The values of all members of a JSON object. */
export const readMembers = <F extends Fields>(fields: F, members: object): FieldValues<F> =>
  valuesOf(fields, (name) =>
    Object.hasOwn(members, name) ? Reflect.get(members, name) : undefined,
  );

/** A plain loop, because each decision runs through it. */
function valuesOf<F extends Fields>(
  fields: F,
  valueOf: (name: string, field: Field<unknown>) => unknown,
): FieldValues<F> {
  const values: Record<string, unknown> = {};
  for (const name in fields) {
    const field: Field<unknown> | undefined = fields[name];
    if (field !== undefined) values[name] = field.read(valueOf(name, field), name);
  }
  return values as FieldValues<F>; // each member was read by its own field
}
