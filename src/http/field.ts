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
  mapFields(fields, ({ from, read }, name) =>
    read((from ?? valueOf)(params, name) ?? undefined, name),
  );

const valueOf = (params: Params, name: string): unknown => params.value(name);

/** The values of all members of a JSON object. */
export const readMembers = <F extends Fields>(fields: F, members: object): FieldValues<F> =>
  mapFields(fields, ({ read }, name) =>
    read(Object.hasOwn(members, name) ? Reflect.get(members, name) : undefined, name),
  );

const mapFields = <F extends Fields>(
  fields: F,
  readOne: (field: Field<unknown>, name: string) => unknown,
): FieldValues<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, readOne(field, name)]),
  ) as FieldValues<F>; // each member was read by its own field
