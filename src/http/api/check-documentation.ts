import { CHECKS, FEATURES } from "../../core/checks/registry.ts";
import { missingParameter } from "../../base/refusals.ts";
import { Type } from "../../core/json-schema.ts";
import {
  apiError,
  COMMON_ERRORS,
  jsonResponse,
  pathParameter,
  queryParameter,
} from "../openapi/openapi.ts";
import { byGet, type Operation, type PathItem, type Response } from "../answer/operation.ts";
import {
  BULK_ERRORS,
  BULK_EXAMPLES,
  BULK_SHAPES,
  bulkFields,
  bulkPaths,
  IDEMPOTENCY_KEY,
} from "./bulk/bulk-documentation.ts";

const WANTED =
  "Comma-separated premium features. What the plan lacks is listed in `requires_upgrade`; the answer is still 200.\n" +
  CHECKS.map(({ name, about }) => `- \`${name}\`: ${about}`).join("\n");

const RESULT = { $ref: "#/components/schemas/Result" };

const MALFORMED = {
  format: false,
  domain: "invalid",
  disposable: false,
  dns: false,
  confidence: 0,
  whitelist: false,
  signals: [],
  role: false,
  free: false,
};

const DOMAIN_RESULT = {
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

const WITH_SPF = { ...DOMAIN_RESULT, email_auth: { spf: "softfail", spf_record: "v=spf1 ~all" } };

interface Words {
  readonly family: "email" | "domain";
  /** Of its operations: "Email". */
  readonly name: string;
  readonly what: string;
  readonly example: string;
  readonly results: Readonly<Record<string, { readonly value: unknown }>>;
}

const EMAIL: Words = {
  family: "email",
  name: "Email",
  what: "an email address",
  example: "info@iana.org",
  results: {
    deliverable: { value: { ...DOMAIN_RESULT, alias: false } },
    malformed: { value: { ...MALFORMED, alias: false } },
    premium: { value: { ...WITH_SPF, alias: false } },
  },
};

const DOMAIN: Words = {
  family: "domain",
  name: "Domain",
  what: "a bare domain",
  example: "iana.org",
  results: {
    deliverable: { value: DOMAIN_RESULT },
    malformed: { value: MALFORMED },
    premium: { value: WITH_SPF },
  },
};

/** An empty value is a missing one. */
const NEEDED = { required: true, schema: Type.String({ minLength: 1 }) };

/** The documented paths of email checks, single and many. */
export const emailCheckDocumentation: Readonly<Record<string, PathItem>> = {
  ...documentation(EMAIL),
  ...bulkPaths("email"),
};

/** The documented paths of domain checks, single and many. */
export const domainCheckDocumentation: Readonly<Record<string, PathItem>> = {
  ...documentation(DOMAIN),
  ...bulkPaths("domain"),
};

function documentation(words: Words): Readonly<Record<string, PathItem>> {
  const { family, name, what, example } = words;
  const entry = pathParameter(family, `Percent-encoded; "+" is a plus sign.`, example);
  const suffixes = {
    ...pathParameter("features", "Further names may follow as segments of their own.", "spf"),
    schema: Type.Enum(FEATURES),
  };
  const features = queryParameter("features", WANTED, "spf,dmarc");
  const inPath = (operationId: string, summary: string): Operation => ({
    operationId,
    summary,
    tags: ["checks"],
    parameters: [entry, features],
    responses: responses(words),
  });
  return {
    [`/api/${family}`]: {
      get: {
        operationId: `check${name}InQuery`,
        summary: `Check ${what} given in the query`,
        tags: ["checks"],
        parameters: [{ ...queryParameter(family, `${what}.`, example), ...NEEDED }, features],
        responses: responses(words),
      },
      post: posted(words),
    },
    [`/api/${family}/{${family}}`]: byGet(
      inPath(`check${name}InPath`, `Check ${what} given in the path`),
    ),
    [`/api/${family}/{${family}}/{features}`]: byGet({
      ...inPath(`check${name}WithFeature`, `Check ${what} with a premium feature as path suffix`),
      parameters: [entry, suffixes],
    }),
  };
}

function posted(words: Words): Operation {
  const { family, name, what, example } = words;
  const value = Type.String({
    description: `${what}; with \`bulk\` a list. Required here or in the query.`,
    minLength: 1,
  });
  const other = family === "email" ? "domain" : "email";
  const more = "With `bulk`: more entries, or all of them.";
  const form = Type.Object({
    [family]: Type.Optional(value),
    [other]: Type.Optional(Type.String({ description: more })),
    features: Type.Optional(Type.String({ description: WANTED })),
    ...bulkFields,
  });
  const names = Type.Union([Type.String(), Type.Array(Type.String())], { description: WANTED });
  const texts = Type.Union([value, Type.Array(Type.String(), { minItems: 1 })]);
  const json = Type.Object({
    [family]: Type.Optional(texts),
    [other]: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String())], { description: more }),
    ),
    features: Type.Optional(names),
    ...bulkFields,
  });
  return {
    operationId: `check${name}`,
    summary: `Check ${what} given in the body, or many`,
    description:
      "A parameter that the body does not name is looked for in the query. With `bulk` the value is a list of " +
      "addresses and domains, separated by commas or white space.",
    tags: ["checks", "bulk"],
    parameters: [IDEMPOTENCY_KEY],
    requestBody: {
      required: false,
      content: {
        "application/x-www-form-urlencoded": { schema: form, example: { [family]: example } },
        "multipart/form-data": { schema: form, example: { [family]: example } },
        "application/json": { schema: json, example: { [family]: example, features: ["spf"] } },
      },
    },
    responses: { ...responses(words), ...BULK_ERRORS, 200: posting(words) },
  };
}

function posting({ results }: Words): Response {
  const schema = Type.Unsafe<unknown>({ oneOf: [RESULT, ...BULK_SHAPES] });
  return jsonResponse("Validation result; with `bulk` the bulk response.", schema, {
    ...results,
    ...BULK_EXAMPLES,
  });
}

function responses({ family, results }: Words): Readonly<Record<string, Response>> {
  return {
    200: jsonResponse("Validation result, malformed input included.", RESULT, results),
    400: apiError("Nothing to check, or a parameter of a wrong type.", missingParameter(family)),
    ...COMMON_ERRORS,
  };
}
