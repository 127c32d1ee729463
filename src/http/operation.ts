import {
  accountDisabled,
  apiKeyRequired,
  bodyTooLarge,
  headersTooLarge,
  INTERNAL_ERROR_MESSAGE,
  invalidApiKey,
  methodNotAllowed,
  rateExceeded,
  type Refusal,
  requestTimedOut,
  storeUnavailable,
  targetTooLong,
  unsupportedMediaType,
} from "../base/refusals.ts";
import { type Optional, type Schema, Type } from "../core/json-schema.ts";
import type { Params } from "./params.ts";

type ShownRefusal = Pick<Refusal, "message"> &
  Partial<Pick<Refusal, "code" | "detail" | "retryAfterSeconds">>;

/** Status -> when, and an example of it. */
export type Refusals = Readonly<Record<number, readonly [when: string, refusal: ShownRefusal]>>;

export interface OperationAnswer {
  readonly about: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

/**
 * One thing that a client can ask: how it is read, refused, answered and documented. Routes take their parameters from
 * it, `/openapi.json` is made of it, and tests hold every real answer against it.
 */
export interface Operation {
  /** Unique; generated clients name their functions after it. */
  readonly id: string;
  readonly at: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;
  readonly alsoPost?: true;
  readonly summary: string;
  readonly about?: string;
  readonly tag: "checks" | "gate" | "bulk" | "system";
  /** Absent: a key may be sent. `unread`: none is ever read. */
  readonly key?: "needed" | "unread";
  /** Parts of the path, each with an `example`. */
  readonly path?: Readonly<Record<string, Schema>>;
  /** Parameters of the query where there is no body; they work in forms too. */
  readonly query?: DocumentedFields;
  /** Members of a JSON body; they work in forms and in the query too. */
  readonly body?: DocumentedFields;
  readonly isUpload?: boolean;
  readonly bodyExample?: Readonly<Record<string, unknown>>;
  readonly isIdempotent?: true;
  readonly answers: Readonly<Record<string, OperationAnswer>>;
  readonly refusals?: Refusals;
  readonly isCacheable?: true;
}

type DocumentedFields = Readonly<Record<string, Pick<Field<unknown>, "schema">>>;

/**
 * A parameter of the API, documented and read from one place. `read` gets the value as JSON has it, the text of a form or
 * query, or undefined; it throws the `Refusal` of a wrong value.
 */
export interface Field<T> {
  readonly schema: Schema<T> | Optional<T>;
  readonly read: (value: unknown, name: string) => T;
}

type FieldValues<F> = {
  readonly [Name in keyof F]: F[Name] extends Field<infer T> ? T : never;
};

export function readFields<F extends Readonly<Record<string, Field<unknown>>>>(
  fields: F,
  params: Params,
): FieldValues<F> {
  const values: Record<string, unknown> = {};
  // A plain loop, because each decision runs through it.
  for (const name in fields) {
    values[name] = fields[name]?.read(params.value(name) ?? undefined, name);
  }
  return values as FieldValues<F>; // each member was read by its own field
}

export interface Documented<T> {
  readonly schema: Optional<T>;
}

export const optionalText = (description: string, more: object = {}): Documented<string> => ({
  schema: Type.Optional(Type.String({ description, ...more })),
});

export const optionalFlag = (description: string): Documented<boolean> => ({
  schema: Type.Optional(Type.Boolean({ description })),
});

export const isOptional = (schema: Schema | Optional): schema is Optional => "optional" in schema;

export const parametersOf = (...operations: readonly Operation[]): ReadonlySet<string> =>
  new Set(
    operations.flatMap(({ query = {}, body = {} }) => [
      ...Object.keys(query),
      ...Object.keys(body),
    ]),
  );

export const json = (about: string, schema: Schema, example: unknown): Operation["answers"] => ({
  "application/json": { about, schema, example },
});

export const KEY_NEEDED: Refusals = {
  401: ["No key, or one that is invalid or revoked.", apiKeyRequired()],
};

export const COMMON_REFUSALS: Refusals = {
  401: ["The key is invalid or revoked.", invalidApiKey()],
  403: ["The account is disabled.", accountDisabled()],
  405: ["Another method; `Allow` names those that work.", methodNotAllowed()],
  408: ["The request did not arrive in time.", requestTimedOut()],
  413: ["The body is over 6,100,000 octets.", bodyTooLarge()],
  414: ["The path has over 1,000 segments.", targetTooLong()],
  415: ["The body is neither a form nor JSON.", unsupportedMediaType()],
  429: ["Rate limit or quota exceeded.", rateExceeded(17_000)],
  431: ["The request line and headers are over 16 KiB.", headersTooLarge()],
  500: ["A fault of ours.", { message: INTERNAL_ERROR_MESSAGE, code: "internal_error" }],
  503: ["Overloaded, or a store is down.", storeUnavailable()],
};

/** What a check says of a domain that takes mail; the examples of operations are made of it. */
export const EXAMPLE_RESULT = {
  format: true,
  domain: "example.org",
  disposable: false,
  dns: true,
  confidence: 0,
  whitelist: false,
  signals: [],
  domain_info: { tld: "org", is_subdomain: false, parent_domain: null },
  mx_info: ["mail.example.org"],
  role: false,
  free: false,
};

/** The same of an address at `domain`, a name of .com with a finding. */
export const exampleAddress = (domain: string, finding: object): object => ({
  ...EXAMPLE_RESULT,
  domain,
  domain_info: { ...EXAMPLE_RESULT.domain_info, tld: "com" },
  mx_info: [`mail.${domain}`],
  alias: false,
  ...finding,
});

export const EXAMPLE_ID = "0123456789abcdef0123456789abcdef";
