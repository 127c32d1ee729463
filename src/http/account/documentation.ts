import {
  adminsOnly,
  badField,
  notFound,
  notSignedIn,
  storeUnavailable,
  tooManyAttempts,
} from "../../service/refusals.ts";
import type { Schema } from "../../core/json-schema.ts";
import { errorResponse, EXAMPLE_ID, pathParameter } from "../openapi/openapi.ts";
import type { Operation, PathItem, Response } from "../answer/operation.ts";
import type { AccountRoute } from "./route.ts";

const METHODS = { GET: "get", POST: "post", DELETE: "delete" } as const;

const DONE: Response = { description: "Done; 204, or a file." };

const answered = (schema: Schema): Response => ({
  description: "Done.",
  content: { "application/json": { schema } },
});

/** The OpenAPI part of the dashboard's own API: path -> operations. */
export function accountDocumentation(
  routes: readonly AccountRoute[],
): Readonly<Record<string, PathItem>> {
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

function operation(route: AccountRoute): Operation {
  const { summary, body, path, method, answer } = route;
  const origin = method === "GET" ? "" : " The Origin header must be this site's.";
  return {
    summary,
    description: `${WHO[route.for]}${origin} Sessions are cookies; API keys are not read here.`,
    tags: ["dashboard"],
    security: [],
    ...(path.includes(":id") && {
      parameters: [pathParameter("id", "As the list shows it.", EXAMPLE_ID)],
    }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { "application/json": { schema: body } } },
    }),
    responses: {
      200: answer === undefined ? DONE : answered(answer),
      400: errorResponse("A field is missing or wrong.", badField('"email" must be text.')),
      401: errorResponse("No session.", notSignedIn()),
      403: errorResponse("Not for this account, or from another site.", adminsOnly()),
      ...(path.includes(":id") && { 404: errorResponse("Nothing has that id.", notFound()) }),
      429: errorResponse("Too many in a minute: the rate.", tooManyAttempts(17_000)),
      503: errorResponse("Overloaded, or a store is down.", storeUnavailable()),
    },
  };
}
