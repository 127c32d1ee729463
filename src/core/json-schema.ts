/**
 * JSON Schema (draft 2020-12), made by functions that know the type they describe. The names are TypeBox's, which does
 * much more and would take a seventh of the time that the program needs to start. These schemas document; they do not
 * validate.
 */

declare const described: unique symbol;

export interface Schema<T = unknown> {
  readonly [described]?: T;
}

export type Described<S> = S extends Schema<infer T> ? T : never;

export interface Optional<T = unknown> {
  readonly optional: Schema<T>;
}

type SchemaFields = Readonly<Record<string, Schema | Optional>>;

export type ObjectOf<F extends SchemaFields> = {
  readonly [Name in keyof F as F[Name] extends Optional ? never : Name]: Described<F[Name]>;
} & {
  readonly [Name in keyof F as F[Name] extends Optional ? Name : never]?: F[Name] extends Optional<
    infer T
  >
    ? T
    : never;
};

export interface ObjectSchema<F extends SchemaFields> extends Schema<ObjectOf<F>> {
  readonly properties: Readonly<Record<keyof F, Schema>>;
  readonly required?: readonly string[];
}

type Keywords = Readonly<Record<string, unknown>>;

const isOptional = (field: Schema | Optional): field is Optional => "optional" in field;

function objectSchema<F extends SchemaFields>(fields: F, keywords: Keywords = {}): ObjectSchema<F> {
  const entries = Object.entries(fields);
  const required = entries.flatMap(([name, field]) => (isOptional(field) ? [] : name));
  const properties = entries.map(([name, field]) => [
    name,
    isOptional(field) ? field.optional : field,
  ]);
  return {
    type: "object",
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties) as ObjectSchema<F>["properties"],
    ...keywords,
  } as ObjectSchema<F>;
}

export const Type = {
  String: (keywords?: Keywords): Schema<string> => plain("string", keywords),
  Integer: (keywords?: Keywords): Schema<number> => plain("integer", keywords),
  Number: (keywords?: Keywords): Schema<number> => plain("number", keywords),
  Boolean: (keywords?: Keywords): Schema<boolean> => plain("boolean", keywords),
  /** Documented as a boolean: generators of clients stumble over one value of it. */
  True: (keywords?: Keywords): Schema<true> => plain("boolean", keywords),
  /** One text. An `enum` of one, because generators of clients stumble over `const`. */
  Literal: <const T extends string>(value: T): Schema<T> => plain("string", { enum: [value] }),
  Enum: <const T extends string>(values: readonly T[], keywords?: Keywords): Schema<T> =>
    plain("string", { enum: values, ...keywords }),
  Array: <T>(items: Schema<T>, keywords?: Keywords): Schema<readonly T[]> =>
    plain("array", { items, ...keywords }),
  Object: objectSchema,
  Record: <T>(values: Schema<T>, keywords?: Keywords): Schema<Readonly<Record<string, T>>> =>
    plain("object", { additionalProperties: values, ...keywords }),
  Union: <S extends readonly Schema[]>(
    anyOf: S,
    keywords?: Keywords,
  ): Schema<Described<S[number]>> => raw({ anyOf, ...keywords }),
  Optional: <T>(optional: Schema<T>): Optional<T> => ({ optional }),
  Unsafe: <T>(schema: Keywords): Schema<T> => raw(schema),
};

export const component = (name: string): Schema =>
  Type.Unsafe<unknown>({ $ref: `#/components/schemas/${name}` });

export const oneOf = <const T extends readonly string[]>(
  values: T,
  description: string,
): Schema<T[number]> => Type.Unsafe({ type: "string", enum: values, description });

/** Null beside the schema's one type; a union would make generators invent a type of their own. */
export function orNull<T>(schema: Schema<T>, description?: string): Schema<T | null> {
  const { type, enum: values, ...rest }: Keywords = schema as Keywords;
  return raw({
    ...rest,
    type: [type, "null"],
    ...(Array.isArray(values) && { enum: [...(values as readonly unknown[]), null] }),
    ...(description !== undefined && { description }),
  });
}

function plain<T>(type: string, keywords: Keywords = {}): Schema<T> {
  return raw({ type, ...keywords });
}

function raw<T>(keywords: Keywords): Schema<T> {
  return keywords as Schema<T>;
}
