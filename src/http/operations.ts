import { component, type Schema, Type } from "../core/json-schema.ts";
import { checkOperations } from "./api/check.ts";
import { AUDIT } from "./api/audit.ts";
import { CHECK_LIST } from "./api/bulk.ts";
import { DECIDE } from "./api/decide.ts";
import { EXPLAIN } from "./api/explain.ts";
import { DECISION_LOG, FEEDBACK } from "./api/feedback.ts";
import { MAILBOXES } from "./api/mailboxes.ts";
import { WATCH } from "./api/watch.ts";
import { UPLOAD } from "./api/upload.ts";
import { VIEWS } from "./api/view.ts";
import { disposableOperations } from "./system/disposable-page.ts";
import { systemOperations } from "./system/system.ts";

import { COMMON_REFUSALS, isOptional, type Operation, type Refusals } from "./operation.ts";
import { SCHEMAS } from "./schemas.ts";

/** Everything that clients can ask, in the order of `/openapi.json`: what most readers come for stands first. */
export const OPERATIONS: readonly Operation[] = [
  DECIDE,
  FEEDBACK,
  DECISION_LOG,
  MAILBOXES,
  ...WATCH,
  ...checkOperations("email"),
  ...checkOperations("domain"),
  EXPLAIN,
  CHECK_LIST,
  UPLOAD,
  ...VIEWS,
  ...AUDIT,
  ...systemOperations,
  ...disposableOperations,
];

type JsonSchema = Readonly<Record<string, unknown>>;

/** OpenAPI 3.1, for people and for generators of clients. `basePath`: of a proxy, or "". */
export const openApiDocument = (basePath: string): JsonSchema => ({
  openapi: "3.1.0",
  info: {
    version: "1",
    title: "Gatepost",
    license: { name: "MIT", identifier: "MIT" },
    description:
      "Email and domain validation. A key is optional; without one the limits of the client address apply. " +
      "Parameters work in JSON, forms and the query alike; in forms write `%2B` for a plus sign.",
  },
  // The server that served the document: also behind a proxy, and on any of its names.
  servers: [{ url: basePath === "" ? "/" : basePath }],
  security: [{}, { apiKey: [] }, { bearer: [] }],
  tags: [
    { name: "gate", description: "May this person sign up, and what became of it." },
    { name: "checks", description: "One address or domain at a time." },
    { name: "bulk", description: "Many entries in one request." },
    { name: "system", description: "For the operator." },
  ],
  paths: pathsOf(OPERATIONS),
  components: COMPONENTS,
});

const header = (description: string, schema: Schema = Type.Integer({ minimum: 0 })) => ({
  description,
  schema,
});

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
    ETag: header("Of this content; send it in `If-None-Match`.", Type.String()),
    ErrorCode: header("The refusal's code, as docs/errors.md lists it.", Type.String()),
  },
};

const headerRef = (name: keyof typeof COMPONENTS.headers) => ({
  $ref: `#/components/headers/${name}`,
});

const RATE = {
  "X-RateLimit-Limit": headerRef("RateLimit"),
  "X-RateLimit-Remaining": headerRef("RateRemaining"),
};

function pathsOf(operations: readonly Operation[]): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const operation of operations) {
    const [method = "", path = ""] = operation.at.split(" ");
    paths[path] = { ...paths[path], [method.toLowerCase()]: described(operation, path) };
  }
  return paths;
}

function described(operation: Operation, path: string): JsonSchema {
  const { id, summary, about, alsoPost, tag, key, isCacheable = false } = operation;
  const description = [about, alsoPost && "POST does the same."].filter(Boolean).join(" ");
  const parameters = parametersIn(operation);
  const body = bodyOf(operation);
  const isApi = path.startsWith("/api/");
  const refusals = { ...(isApi && COMMON_REFUSALS), ...operation.refusals };
  return {
    operationId: id,
    summary,
    ...(description !== "" && { description }),
    tags: [tag],
    ...(key === "needed" && { security: [{ apiKey: [] }, { bearer: [] }] }),
    ...(key === "unread" && { security: [{}] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: body }),
    responses: {
      200: answersOf(operation, isApi),
      ...(isCacheable && { 304: { description: "What the client holds is still right." } }),
      ...Object.fromEntries(
        Object.entries(refusals).map(([status, refusal]) => [status, refusalOf(refusal, isApi)]),
      ),
    },
  };
}

function parametersIn({
  path = {},
  query = {},
  isIdempotent,
  isCacheable,
}: Operation): readonly JsonSchema[] {
  return [
    ...Object.entries(path).map(([name, schema]) => parameter("path", name, { schema })),
    ...Object.entries(query).map(([name, { schema }]) =>
      isOptional(schema)
        ? { ...parameter("query", name, { schema: schema.optional }), required: false }
        : parameter("query", name, { schema }),
    ),
    ...(isIdempotent === true ? [IDEMPOTENCY_KEY] : []),
    ...(isCacheable === true ? [IF_NONE_MATCH] : []),
  ];
}

function parameter(
  place: string,
  name: string,
  { schema }: { readonly schema: Schema },
): JsonSchema {
  const { description, example, ...rest } = schema as JsonSchema;
  return {
    name,
    in: place,
    required: true,
    ...(description !== undefined && { description }),
    schema: rest,
    ...(example !== undefined && { example }),
  };
}

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "1 to 255 printable ASCII characters. The same request with the same key gets the same answer, uncharged, " +
    "until its session ends.",
  schema: Type.String({ minLength: 1, maxLength: 255 }),
};

const IF_NONE_MATCH = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The `ETag` of what the client holds: the answer is 304 while it is still right.",
  schema: Type.String(),
};

function bodyOf({ body, bodyExample, isUpload = false }: Operation): JsonSchema | undefined {
  if (body === undefined) return undefined;
  const entries = Object.entries(body).map(([name, { schema }]) => [name, schema] as const);
  const schema = Type.Object(Object.fromEntries(entries));
  const media = isUpload ? "multipart/form-data" : "application/json";
  const example = bodyExample === undefined ? {} : { example: bodyExample };
  return { required: true, content: { [media]: { schema, ...example } } };
}

function answersOf({ answers, isCacheable }: Operation, isApi: boolean): JsonSchema {
  const content = Object.entries(answers).map(([type, { schema, example }]) => [
    type,
    { schema, ...(example !== undefined && { example }) },
  ]);
  return {
    description: Object.values(answers)[0]?.about ?? "",
    ...((isApi || isCacheable === true) && {
      headers: { ...(isApi && RATE), ...(isCacheable === true && { ETag: headerRef("ETag") }) },
    }),
    content: Object.fromEntries(content),
  };
}

function refusalOf([description, refusal]: Refusals[number], isApi: boolean): JsonSchema {
  const { message, detail, retryAfterSeconds } = refusal;
  const example = { error: message, ...detail };
  return {
    description,
    headers: {
      ...(isApi && RATE),
      "Gatepost-Error": headerRef("ErrorCode"),
      ...(retryAfterSeconds !== undefined && { "Retry-After": headerRef("RetryAfter") }),
    },
    content: { "application/json": { schema: component("Error"), example } },
  };
}
