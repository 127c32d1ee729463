import {
  accountDisabled,
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
import { type Schema, Type } from "../core/json-schema.ts";
import { component, SCHEMAS } from "./schemas.ts";

export interface Operation {
  /** Unique in its document; generated clients name their functions after it. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Responses;
  /** Absent: no key, or either key header. `[]`: no key is ever read. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

/** Documented path -> operations. */
export type Paths = Readonly<Record<string, PathItem>>;
export type PathItem = Readonly<Partial<Record<"get" | "post" | "delete", Operation>>>;
export type Responses = Readonly<Record<string, Response>>;

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: string;
}

type Examples = Readonly<Record<string, { readonly value: unknown }>>;

export interface MediaType {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Examples;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export const byGet = (operation: Operation): PathItem => ({
  get: {
    ...operation,
    description: [operation.description, "POST does the same."].filter(Boolean).join(" "),
  },
});

export const KEY_NEEDED: NonNullable<Operation["security"]> = [{ apiKey: [] }, { bearer: [] }];

export type OpenApiDocument = Readonly<Record<string, unknown>> & { readonly paths: Paths };

export const openApiDocument = (paths: Paths, basePath: string): OpenApiDocument => ({
  ...HEAD,
  servers: serversAt(basePath),
  info: {
    ...HEAD.info,
    title: "Gatepost",
    description:
      "Email and domain validation. A key is optional; without one the limits of the client address apply. " +
      "Forms, JSON and query parameters are equivalent; in forms write `%2B` for a plus sign.",
  },
  security: [{}, { apiKey: [] }, { bearer: [] }],
  tags: [
    { name: "checks", description: "One address or domain at a time." },
    { name: "bulk", description: "Many entries in one request." },
    { name: "system", description: "For the operator." },
  ],
  paths,
  components: COMPONENTS,
});

/** The dashboard's own API, which changes with the dashboard and is not part of the public one. */
export const dashboardDocument = (paths: Paths, basePath: string): OpenApiDocument => ({
  ...HEAD,
  servers: serversAt(basePath),
  info: {
    ...HEAD.info,
    title: "Gatepost dashboard",
    description: "For the dashboard's own pages: sign-ins by cookie, no API keys, no promises.",
  },
  security: [],
  tags: [{ name: "dashboard" }],
  paths,
  components: COMPONENTS,
});

const HEAD = {
  openapi: "3.1.0",
  info: { version: "1", license: { name: "MIT", identifier: "MIT" } },
} as const;

/** The server that served the document: also behind a proxy, and on any of its names. */
const serversAt = (basePath: string) => [{ url: basePath === "" ? "/" : basePath }];

const header = (description: string) => ({ description, schema: Type.Integer({ minimum: 0 }) });

const COMPONENTS = {
  schemas: SCHEMAS,
  securitySchemes: {
    apiKey: { type: "apiKey", in: "header", name: "X-Api-Key" },
    bearer: { type: "http", scheme: "bearer" },
  },
  headers: {
    RateLimit: header("Requests per minute."),
    RateRemaining: header("Requests left in the running minute."),
    RetryAfter: header("Seconds."),
  },
};

const RATE_HEADERS: NonNullable<Response["headers"]> = {
  "X-RateLimit-Limit": { $ref: "#/components/headers/RateLimit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/RateRemaining" },
};

type ShownRefusal = Pick<Refusal, "message"> &
  Partial<Pick<Refusal, "detail" | "retryAfterSeconds">>;

/** One error answer of an operation, with what a client gets of `refusal` as its example. */
export function errorResponse(description: string, refusal: ShownRefusal): Response {
  const { message, detail, retryAfterSeconds } = refusal;
  const retry = { "Retry-After": { $ref: "#/components/headers/RetryAfter" } };
  const example = { error: message, ...detail };
  return {
    description,
    ...(retryAfterSeconds !== undefined && { headers: retry }),
    content: { "application/json": { schema: component("Error"), example } },
  };
}

/** The same under `/api`, where the rate headers are on every answer. */
export function apiError(description: string, refusal: ShownRefusal): Response {
  const response = errorResponse(description, refusal);
  return { ...response, headers: { ...RATE_HEADERS, ...response.headers } };
}

export const jsonResponse = (
  description: string,
  schema: Schema,
  examples: Examples,
): Response => ({
  description,
  headers: RATE_HEADERS,
  content: { "application/json": { schema, examples } },
});

/** What every operation under `/api` may answer besides its own. */
export const COMMON_ERRORS: Responses = {
  401: apiError("The key is invalid or revoked.", invalidApiKey()),
  403: apiError("The account is disabled.", accountDisabled()),
  405: apiError("Another method; `Allow` names those that work.", methodNotAllowed()),
  408: apiError("The request did not arrive within 30 s.", requestTimedOut()),
  413: apiError("The body is over 6,100,000 octets.", bodyTooLarge()),
  414: apiError("The path has over 1,000 segments.", targetTooLong()),
  415: apiError("The body is neither a form nor JSON.", unsupportedMediaType()),
  429: apiError("Rate limit or quota exceeded.", rateExceeded(17_000)),
  431: apiError("The request line and headers are over 16 KiB.", headersTooLarge()),
  500: apiError("A fault of ours.", { message: INTERNAL_ERROR_MESSAGE }),
  503: apiError("Overloaded, or a store is down.", storeUnavailable()),
};

export function queryParameter(name: string, description: string, example?: string): Parameter {
  const more = example === undefined ? {} : { example };
  return { name, in: "query", required: false, description, schema: Type.String(), ...more };
}

export function pathParameter(name: string, description: string, example: string): Parameter {
  return { name, in: "path", required: true, description, schema: Type.String(), example };
}

export const EXAMPLE_ID = "0123456789abcdef0123456789abcdef";
