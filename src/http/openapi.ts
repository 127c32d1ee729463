import { type TSchema, Type } from "typebox";
import {
  BulkResultsSchema,
  BulkSummarySchema,
  CompletedSchema,
  ProgressSchema,
  QueuedSchema,
  RemovedSchema,
} from "./bulk-schemas.ts";
import type { Parameter, PathItem, Reference, Response } from "./operation.ts";
import type { Route } from "./route.ts";
import { ErrorSchema, ResultSchema } from "./schemas.ts";

/** An OpenAPI 3.1 document; the parts we do not build on stay open. */
export type OpenApiDocument = Readonly<Record<string, unknown>> & {
  readonly paths: Readonly<Record<string, PathItem>>;
};

/** Every documented path of the routes and the system pages, in one document. */
export function openApiDocument(
  routes: readonly Route[],
  system: Readonly<Record<string, PathItem>>,
  publicUrl: string,
): OpenApiDocument {
  const paths = Object.assign({}, ...routes.map((route) => route.documentation), system);
  return {
    openapi: "3.1.0",
    info: {
      title: "Gatepost",
      version: "1",
      description:
        "Email and domain validation. A key is optional; without one the limits of the client address hold. " +
        "Forms, JSON and query parameters are read alike; in forms write `%2B` for a plus sign.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: publicUrl }],
    security: [{}, { apiKey: [] }, { bearer: [] }],
    tags: [
      { name: "checks", description: "One address or domain at a time." },
      { name: "bulk", description: "Many entries in one request." },
      { name: "dashboard", description: "Of the dashboard's pages: sessions by cookie, no keys." },
      { name: "system", description: "For the operator." },
    ],
    paths,
    components: COMPONENTS,
  };
}

const COMPONENTS = {
  schemas: {
    Result: ResultSchema,
    Error: ErrorSchema,
    BulkSummary: BulkSummarySchema,
    BulkResults: BulkResultsSchema,
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

/** One error answer of an operation. */
export function errorResponse(description: string, example: string): Response {
  const retries = /rate|quota/i.test(description);
  return {
    description,
    headers: retries
      ? { ...RATE_HEADERS, "Retry-After": { $ref: "#/components/headers/RetryAfter" } }
      : RATE_HEADERS,
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        example: { error: example },
      },
    },
  };
}

/** A 200 with a JSON body. */
export function jsonResponse(
  description: string,
  schema: TSchema | Reference,
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
  401: errorResponse("The key is invalid or revoked.", "Invalid API key."),
  403: errorResponse("The account is disabled.", "Account is disabled."),
  405: errorResponse("Another method; `Allow` names those that work.", "Method not allowed."),
  408: errorResponse("The request did not arrive within 30 s.", "Request timed out."),
  413: errorResponse("The body is over 6,100,000 octets.", "Bulk input is too large."),
  414: errorResponse("The target is over 64 KiB.", "Request target too long."),
  415: errorResponse(
    "The body is neither a form nor JSON.",
    "Content-Type must be application/x-www-form-urlencoded or application/json.",
  ),
  429: errorResponse(
    "Rate limit or quota exceeded.",
    "Rate limit exceeded. Try again in 17 seconds.",
  ),
  431: errorResponse("The headers are over 80 KiB.", "Request header fields too large."),
  500: errorResponse("A fault of ours.", "Internal error."),
  503: errorResponse(
    "Overloaded, or a store is down.",
    "Service is busy. Please try again in a few minutes.",
  ),
};

/** Parameters in the query of an operation. */
export function queryParameter(name: string, description: string, example?: string): Parameter {
  const more = example === undefined ? {} : { example };
  return { name, in: "query", required: false, description, schema: Type.String(), ...more };
}

export function pathParameter(name: string, description: string, example: string): Parameter {
  return { name, in: "path", required: true, description, schema: Type.String(), example };
}
