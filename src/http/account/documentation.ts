import {
  adminsOnly,
  badField,
  bodyTooLarge,
  INTERNAL_ERROR_MESSAGE,
  methodNotAllowed,
  notFound,
  notNow,
  notSignedIn,
  storeUnavailable,
  tooManyAttempts,
  tooManyEntries,
  unsupportedMediaType,
} from "../../base/refusals.ts";
import { type Schema, Type } from "../../core/json-schema.ts";
import {
  errorResponse,
  EXAMPLE_ID,
  type Operation,
  type PathItem,
  type Paths,
  pathParameter,
  type Responses,
} from "../openapi.ts";
import type { AccountRoute } from "./route.ts";

const METHODS = { GET: "get", POST: "post", DELETE: "delete" } as const;

const NOTHING_OR_FILE: Responses = {
  200: {
    description: "A file.",
    content: {
      "text/plain": { schema: Type.String() },
      "application/json": { schema: Type.Object({}, { additionalProperties: true }) },
    },
  },
  204: { description: "Done." },
};

const answered = (schema: Schema): Responses => ({
  200: {
    description: "Done; where it streams, one JSON text a line.",
    content: { "application/json": { schema }, "application/x-ndjson": { schema } },
  },
});

const ERRORS: Responses = {
  400: errorResponse("A field is missing or wrong.", badField('"email" must be text.')),
  401: errorResponse("Not signed in.", notSignedIn()),
  403: errorResponse("Not for this account, or from another site.", adminsOnly()),
  404: errorResponse("Nothing has that id or name.", notFound()),
  405: errorResponse("Another method.", methodNotAllowed()),
  409: errorResponse("Not as things are now.", notNow("The list is not done yet.")),
  413: errorResponse("The body is too large.", bodyTooLarge()),
  415: errorResponse("The body is not JSON.", unsupportedMediaType()),
  422: errorResponse("A value is refused.", tooManyEntries(10_000, 10_001)),
  429: errorResponse("Too many in a minute: the rate.", tooManyAttempts(17_000)),
  500: errorResponse("A fault of ours.", { message: INTERNAL_ERROR_MESSAGE }),
  503: errorResponse("Overloaded, or a store is down.", storeUnavailable()),
};

/** "GET", "lists/:id/rows" -> "getListsIdRows". */
function operationId({ method, path }: AccountRoute): string {
  const words = path.split(/[^A-Za-z]+/).filter((word) => word !== "");
  const rest = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return `${METHODS[method]}${rest}`;
}

/** The OpenAPI part of the dashboard's own API: path -> operations. */
export function accountDocumentation(routes: readonly AccountRoute[]): Paths {
  const paths = new Map<string, PathItem>();
  for (const route of routes) {
    const path = `/account/${route.path.replace(":id", "{id}")}`;
    paths.set(path, { ...paths.get(path), [METHODS[route.method]]: operation(route) });
  }
  return Object.fromEntries(paths);
}

const WHO: Readonly<Record<AccountRoute["for"], string>> = {
  everyone: "For everyone.",
  account: "For a signed-in account.",
  leaving: "For a signed-in account, also a disabled one.",
  admin: "For administrators.",
};

const FILE = Type.Object({
  file: Type.Unsafe<unknown>({
    type: "string",
    format: "binary",
    description: "Text, CSV, JSON lines or .xlsx, at most 20,000,000 octets.",
  }),
});

const bodySchema = (fields: NonNullable<AccountRoute["body"]>): Schema =>
  Type.Object(
    Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
  );

function operation(route: AccountRoute): Operation {
  const { summary, path, method, upload, lines } = route;
  const answer = route.answer ?? lines;
  const body = upload === true ? FILE : route.body && bodySchema(route.body);
  const media = upload === true ? "multipart/form-data" : "application/json";
  const origin = method === "GET" ? "" : " The Origin header must be this site's.";
  return {
    operationId: operationId(route),
    summary,
    description: `${WHO[route.for]}${origin} Sessions are cookies; API keys are not read here.`,
    tags: ["dashboard"],
    security: [],
    ...(path.includes(":id") && {
      parameters: [pathParameter("id", "As the list shows it.", EXAMPLE_ID)],
    }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { [media]: { schema: body } } },
    }),
    responses: { ...(answer === undefined ? NOTHING_OR_FILE : answered(answer)), ...ERRORS },
  };
}
