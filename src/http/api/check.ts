import { missingParameter } from "../../base/refusals.ts";
import type { CheckAnswer, CheckOne, CheckRequest } from "../../check/single-check.ts";
import { type FeatureName, featureNamed, readFeatures } from "../../check/features.ts";
import { readEntry } from "../../core/address/address.ts";
import { CHECKS, FEATURES } from "../../core/checks/registry.ts";
import { Type } from "../../core/json-schema.ts";
import { ENTRY_MAX_UNITS } from "../../core/name/domain.ts";
import { when } from "../../core/when.ts";
import {
  apiError,
  byGet,
  COMMON_ERRORS,
  jsonResponse,
  type Operation,
  type Paths,
  pathParameter,
  queryParameter,
  type Responses,
} from "../openapi.ts";
import { component } from "../schemas.ts";
import type { Params } from "../params.ts";
import { type ApiReply, type ApiRequest, JSON_TYPE, type Route } from "../route.ts";
import {
  BULK_ERRORS,
  BULK_EXAMPLES,
  BULK_SHAPES,
  bulkFields,
  type BulkHandler,
  bulkPaths,
  IDEMPOTENCY_KEY,
} from "./bulk.ts";

const PARAMETERS: ReadonlySet<string> = new Set(["email", "domain", "features", "bulk", "json"]);

/**
 * `/api/email[/{email}[/{suffix}...]]` and the same for domains. The entry of the path wins over the
 * parameter; the parameter of the body wins over the one of the query. Without `bulk`, `mass`, `bulk` and the parameter
 * `bulk` mean nothing.
 */
export function checkRoute(family: Family, checkOne: CheckOne, bulk?: BulkHandler): Route {
  const mode: CheckRequest["mode"] = family === "email" ? "address" : "domain";
  return {
    family,
    methods: ["GET", "POST"],
    body: "params",
    parameters: PARAMETERS,
    charges: "units",
    documentation: documentationOf(family),
    read(segments) {
      const path = readCheckPath(segments, mode);
      const isBulk = (params: Params): boolean =>
        bulk !== undefined && (path.bulk || params.flag("bulk"));
      return {
        isBulk,
        isSingle: !path.bulk,
        handle(request) {
          const { params, entrance } = request;
          if (bulk !== undefined && isBulk(params)) {
            const text = path.entry || listOf(request);
            if (text === "") throw missingParameter(family);
            return bulk(request, { family, text, wantsResults: params.flag("json") });
          }
          const text = path.entry || (params.entry(family, mode) ?? "");
          if (text === "") throw missingParameter(family);
          const features = askedFeatures(path.features, params.names("features"));
          const answer = checkOne(entrance, { text, mode, features });
          return when(answer, (known) => replyWith(known, text));
        },
      };
    },
  };
}

function replyWith({ body, paidBy }: CheckAnswer, entry: string): ApiReply {
  return { type: JSON_TYPE, body, paidBy, entry };
}

function listOf({ params }: ApiRequest): string {
  const lists = [params.bulkText("email"), params.bulkText("domain")];
  return lists.filter((list) => list !== undefined && list !== "").join("\n");
}

/** What turns a single check into a bulk one when it stands behind the entries. */
const BULK_SUFFIXES: ReadonlySet<string> = new Set(["mass", "bulk"]);

interface CheckPath {
  /** The segments before the suffixes, joined with "/" again; absent when the path names no entry. */
  readonly entry: string | undefined;
  readonly features: readonly FeatureName[];
  readonly bulk: boolean;
}

/**
 * Reads suffixes from the right as long as they are known names, in any case; the first segment always stays the
 * entry, so a local part may hold "/" and `/api/email/mass` checks "mass". One segment may hold several feature names
 * joined by an encoded slash or comma. An unknown segment behind a valid entry is ignored.
 */
export function readCheckPath(path: readonly string[], mode: "address" | "domain"): CheckPath {
  if (path.length < 2) return { entry: path[0], features: NO_FEATURES, bulk: false };
  let end = path.length;
  while (end > 1 && suffixOf(path[end - 1] ?? "") !== undefined) end -= 1;
  end = endOfEntry(path, end, mode);
  const suffixes = path.slice(end).map((segment) => suffixOf(segment) ?? UNKNOWN);
  return {
    entry: path.slice(0, end).join("/"),
    features: [...new Set(suffixes.flatMap(({ features }) => features))],
    bulk: suffixes.some(({ bulk }) => bulk),
  };
}

interface Suffix {
  readonly features: readonly FeatureName[];
  readonly bulk: boolean;
}

const NO_FEATURES: readonly FeatureName[] = [];
const UNKNOWN: Suffix = { features: NO_FEATURES, bulk: false };

/** All feature names, repeated a few times, fit in a segment of this length. */
const SEGMENT_MAX_UNITS = 1_000;

/** What a segment asks for; undefined if a piece of it is unknown. */
function suffixOf(segment: string): Suffix | undefined {
  if (segment.length > SEGMENT_MAX_UNITS) return undefined;
  if (BULK_SUFFIXES.has(segment.toLowerCase())) return { features: NO_FEATURES, bulk: true };
  const features: FeatureName[] = [];
  for (const piece of segment.split(/[/,]/)) {
    const feature = featureNamed(piece);
    if (feature === undefined) return undefined;
    features.push(feature);
  }
  return { features, bulk: false };
}

/** The end of the longest valid entry at the start of the path; `end` when the first `end` segments hold none. */
function endOfEntry(path: readonly string[], end: number, mode: "address" | "domain"): number {
  if (end === 1) return end;
  let best = end;
  let text = "";
  for (let at = 0; at < end && text.length <= ENTRY_MAX_UNITS; at += 1) {
    text = at === 0 ? (path[0] ?? "") : `${text}/${path[at] ?? ""}`;
    if (mayEnd(path, at, mode) && readEntry(text, mode).kind !== "malformed") best = at + 1;
  }
  return best;
}

/** No domain holds a "/". To read what cannot be an entry, segment after segment, would take 5 ms. */
const mayEnd = (path: readonly string[], at: number, mode: "address" | "domain"): boolean =>
  mode === "domain" ? at === 0 : path[at]?.includes("@") === true;

/** What path and parameters ask for together, the path first. */
export function askedFeatures(
  inPath: readonly FeatureName[],
  byParameter: readonly string[],
): readonly FeatureName[] {
  return byParameter.length === 0 ? inPath : readFeatures([...inPath, ...byParameter]);
}

const WANTED =
  "Comma-separated premium features. What the plan lacks is listed in `requires_upgrade`; the answer is still 200.\n" +
  CHECKS.map(({ name, about }) => `- \`${name}\`: ${about}`).join("\n");

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

const DELIVERABLE = {
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

const email_auth = { spf: "softfail", spf_record: "v=spf1 ~all" };

/** What the documentation says of the two families; `name` stands in the names of operations. */
const WORDS = {
  email: {
    name: "Email",
    what: "an email address",
    example: "info@iana.org",
    alias: { alias: false },
  },
  domain: { name: "Domain", what: "a bare domain", example: "iana.org", alias: {} },
};

type Family = keyof typeof WORDS;

const examplesOf = (family: Family) => {
  const { alias } = WORDS[family];
  return {
    deliverable: { value: { ...DELIVERABLE, ...alias } },
    malformed: { value: { ...MALFORMED, ...alias } },
    premium: { value: { ...DELIVERABLE, email_auth, ...alias } },
  };
};

function documentationOf(family: Family): Paths {
  const { name, what, example } = WORDS[family];
  const entry = pathParameter(family, `Percent-encoded; "+" is a plus sign.`, example);
  const suffixes = {
    ...pathParameter("features", "Further names may follow as segments of their own.", "spf"),
    schema: Type.Enum(FEATURES),
  };
  // An empty value is a missing one.
  const needed = { required: true, schema: Type.String({ minLength: 1 }) };
  const inQuery = { ...queryParameter(family, `${what}.`, example), ...needed };
  const features = queryParameter("features", WANTED, "spf,dmarc");
  const check = (
    operationId: string,
    where: string,
    parameters: Operation["parameters"] = [entry, features],
  ): Operation => ({
    operationId: `check${name}${operationId}`,
    summary: `Check ${what} ${where}`,
    tags: ["checks"],
    parameters,
    responses: responsesOf(family),
  });
  return {
    [`/api/${family}`]: {
      get: check("InQuery", "given in the query", [inQuery, features]),
      post: posted(family),
    },
    [`/api/${family}/{${family}}`]: byGet(check("InPath", "given in the path")),
    [`/api/${family}/{${family}}/{features}`]: byGet(
      check("WithFeature", "with a premium feature as path suffix", [entry, suffixes]),
    ),
    ...bulkPaths(family),
  };
}

function posted(family: Family): Operation {
  const { name, what, example } = WORDS[family];
  const value = Type.String({
    description: `${what}; with \`bulk\` a list. Required here or in the query.`,
    minLength: 1,
  });
  const other = family === "email" ? "domain" : "email";
  const more = { description: "With `bulk`: more entries, or all of them." };
  const form = Type.Object({
    [family]: Type.Optional(value),
    [other]: Type.Optional(Type.String(more)),
    features: Type.Optional(Type.String({ description: WANTED })),
    ...bulkFields,
  });
  const texts = (keywords: Readonly<Record<string, unknown>>) =>
    Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())], keywords));
  const json = Type.Object({
    [family]: Type.Optional(Type.Union([value, Type.Array(Type.String(), { minItems: 1 })])),
    [other]: texts(more),
    features: texts({ description: WANTED }),
    ...bulkFields,
  });
  const results = Type.Unsafe<unknown>({ oneOf: [component("Result"), ...BULK_SHAPES] });
  const examples = { ...examplesOf(family), ...BULK_EXAMPLES };
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
    responses: {
      ...responsesOf(family),
      ...BULK_ERRORS,
      200: jsonResponse("Validation result; with `bulk` the bulk response.", results, examples),
    },
  };
}

const responsesOf = (family: Family): Responses => ({
  200: jsonResponse(
    "Validation result, malformed input included.",
    component("Result"),
    examplesOf(family),
  ),
  400: apiError("Nothing to check, or a parameter of a wrong type.", missingParameter(family)),
  ...COMMON_ERRORS,
});
