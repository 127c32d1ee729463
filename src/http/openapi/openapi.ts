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
} from "../../base/refusals.ts";
import {
  BulkResultsSchema,
  BulkSummarySchema,
  CompletedSchema,
  NotedResultSchema,
  ProgressSchema,
  QueuedSchema,
  RemovedSchema,
  SessionResultsSchema,
} from "./bulk-schemas.ts";
import { type Schema, Type } from "../../core/json-schema.ts";
import type { Parameter, PathItem, Reference, Response } from "../answer/operation.ts";
import type { Route } from "../answer/route.ts";
import { ErrorSchema, ResultSchema } from "./schemas.ts";

/** An OpenAPI 3.1 document; the parts we do not build on stay open. */
export type OpenApiDocument = Readonly<Record<string, unknown>> & {
  readonly paths: Readonly<Record<string, PathItem>>;
};

/** The public API: every documented path of the routes and the system pages. */
export function openApiDocument(
  routes: readonly Route[],
  system: Readonly<Record<string, PathItem>>,
  basePath: string,
): OpenApiDocument {
  return {
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
    paths: Object.assign({}, ...gateFirst(routes).map((route) => route.documentation), system),
    components: COMPONENTS,
  };
}

/** What most readers come for. */
const gateFirst = (routes: readonly Route[]): readonly Route[] =>
  routes.toSorted((a, b) => Number(b.family === "decide") - Number(a.family === "decide"));

/** The dashboard's own API, which changes with the dashboard and is not part of the public one. */
export function dashboardDocument(
  paths: Readonly<Record<string, PathItem>>,
  basePath: string,
): OpenApiDocument {
  return {
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
  };
}

const HEAD = {
  openapi: "3.1.0",
  info: { version: "1", license: { name: "MIT", identifier: "MIT" } },
} as const;

/** The server that served the document: also behind a proxy, and on any of its names. */
const serversAt = (basePath: string) => [{ url: basePath === "" ? "/" : basePath }];

const COMPONENTS = {
  schemas: {
    Result: ResultSchema,
    Error: ErrorSchema,
    BulkSummary: BulkSummarySchema,
    BulkResults: BulkResultsSchema,
    NotedResult: NotedResultSchema,
    SessionResults: SessionResultsSchema,
    Queued: QueuedSchema,
    Progress: ProgressSchema,
    Completed: CompletedSchema,
    Removed: RemovedSchema,
  },
  securitySchemes: {
    apiKey: { type: "apiKey", in: "header", name: "X-Api-Key" },
    bearer: { type: "http", scheme: "bearer" },
  },
  headers: {
    RateLimit: { description: "Requests per minute.", schema: Type.Integer({ minimum: 0 }) },
    RateRemaining: {
      description: "Requests left in the running minute.",
      schema: Type.Integer({ minimum: 0 }),
    },
    RetryAfter: { description: "Seconds.", schema: Type.Integer({ minimum: 0 }) },
  },
};

const RATE_HEADERS: Readonly<Record<string, Reference>> = {
  "X-RateLimit-Limit": { $ref: "#/components/headers/RateLimit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/RateRemaining" },
};

/** One error answer of an operation, with what a client gets of `refusal` as its example. */
export function errorResponse(description: string, refusal: ShownRefusal): Response {
  const { message, detail, retryAfterSeconds } = refusal;
  const retry = { "Retry-After": { $ref: "#/components/headers/RetryAfter" } };
  return {
    description,
    ...(retryAfterSeconds !== undefined && { headers: retry }),
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        example: { error: message, ...detail },
      },
    },
  };
}

/** What of a refusal is in its answer. */
type ShownRefusal = Pick<Refusal, "message"> &
  Partial<Pick<Refusal, "detail" | "retryAfterSeconds">>;

/** The same under `/api`, where the rate headers are on every answer. */
export function apiError(description: string, refusal: ShownRefusal): Response {
  const response = errorResponse(description, refusal);
  return { ...response, headers: { ...RATE_HEADERS, ...response.headers } };
}

/** A 200 with a JSON body. */
export function jsonResponse(
  description: string,
  schema: Schema | Reference,
  examples: Readonly<Record<string, { readonly value: unknown }>>,
): Response {
  return {
    description,
    headers: RATE_HEADERS,
    content: { "application/json": { schema, examples } },
  };
}

/** What every operation under `/api` may answer besides its own. */
export const COMMON_ERRORS: Readonly<Record<string, Response>> = {
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

/** Parameters in the query of an operation. */
export function queryParameter(name: string, description: string, example?: string): Parameter {
  const more = example === undefined ? {} : { example };
  return { name, in: "query", required: false, description, schema: Type.String(), ...more };
}

/** A session or an id, as examples show it. */
export const EXAMPLE_ID = "0123456789abcdef0123456789abcdef";

export function pathParameter(name: string, description: string, example: string): Parameter {
  return { name, in: "path", required: true, description, schema: Type.String(), example };
}
