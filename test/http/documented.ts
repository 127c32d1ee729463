import { AssertionError } from "node:assert";
import { Compile } from "typebox/compile";
import type { Operation } from "../../src/http/operation.ts";
import { OPERATIONS } from "../../src/http/operations.ts";
import { SCHEMAS } from "../../src/http/schemas.ts";

type Json = Readonly<Record<string, unknown>>;

export interface SeenAnswer {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** The schema with every reference written out, which takes no member that it does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const { $ref, ...rest } = schema as Json;
  if (typeof $ref === "string") {
    return closed(Reflect.get(SCHEMAS, $ref.split("/").at(-1) ?? ""));
  }
  const members = Object.entries(rest).map(([name, value]) => [name, closed(value)]);
  const shut = "properties" in rest && !("additionalProperties" in rest);
  return { ...Object.fromEntries(members), ...(shut && { additionalProperties: false }) };
}

interface Compiled {
  Check(value: unknown): boolean;
  Errors(value: unknown): Iterable<object>;
}

const compiled = new WeakMap<object, Compiled>();

function compile(schema: object): Compiled {
  let known = compiled.get(schema);
  if (known === undefined) compiled.set(schema, (known = Compile(closed(schema) as object)));
  return known;
}

/** Throws when `value` is none of the schemas, an unnamed member included. */
export function assertShape(value: unknown, schemas: readonly object[], what: string): void {
  if (schemas.some((schema) => compile(schema).Check(value))) return;
  const errors = schemas.flatMap((schema) => [...compile(schema).Errors(value)].slice(0, 3));
  const told = `${JSON.stringify(errors)} in ${JSON.stringify(value).slice(0, 1_000)}`;
  throw new AssertionError({ message: `${what} is not documented: ${told}` });
}

const PATTERNS = OPERATIONS.map((operation) => {
  const [method, path = ""] = operation.at.split(" ");
  return { operation, method, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^?]+")}/?$`) };
});

/** What operations say of an answer; empty where none is at the path. */
function operationsAt({ method, url }: SeenAnswer): readonly Operation[] {
  const asked = url.split("?", 1)[0] ?? "";
  // The contract's path without a suffix has the JSON of its file.
  const path =
    method !== "DELETE" && /^\/api\/view\/[^/]+$/.test(asked) ? `${asked}/download` : asked;
  return PATTERNS.filter(
    ({ operation, method: own, pattern }) =>
      pattern.test(path) && (own === method || (method === "POST" && operation.alsoPost === true)),
  ).map(({ operation }) => operation);
}

/** A list may be asked for wherever a check is: with `bulk`, or a suffix. */
const isCheck = (url: string): boolean => /^\/api\/(?:email|domain)(?:[/?]|$)/.test(url);

/** Throws when a JSON answer under `/api` has a member or a value that its operation does not document. */
export function assertDocumented(answer: SeenAnswer): void {
  const { method, url, status, type, text } = answer;
  if (!url.startsWith("/api/") || !type.startsWith("application/json")) return;
  const what = `${method} ${url} -> ${String(status)}`;
  const value: unknown = JSON.parse(text);
  if (status >= 400) return assertShape(value, [SCHEMAS.Error], what);
  const schemas = operationsAt(answer).flatMap(({ answers }) => {
    const documented = answers["application/json"];
    return documented === undefined ? [SCHEMAS.SessionState] : [documented.schema];
  });
  if (isCheck(url)) schemas.push(SCHEMAS.BulkAnswer);
  if (schemas.length > 0) assertShape(value, schemas, what);
}
