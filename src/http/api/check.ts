import { forBulk } from "../../bulk/jobs/bulk-shapes.ts";
import { missingParameter } from "../../base/refusals.ts";
import type { CheckOne, CheckRequest } from "../../check/check-one.ts";
import { featureNamed, readFeatures, type RequestedFeature } from "../../check/features.ts";
import { readEntry } from "../../core/address/address.ts";
import { CHECKS, FEATURES } from "../../core/checks/registry.ts";
import { component, Type } from "../../core/json-schema.ts";
import { ENTRY_MAX_UNITS } from "../../core/name/domain.ts";
import { when } from "../../core/mail/lookup.ts";
import { NOTICE } from "../answer.ts";
import { EXAMPLE_RESULT, json, type Operation, parametersOf } from "../operation.ts";
import { isSeveral } from "../params.ts";
import { type ApiRequest, JSON_TYPE, type Route } from "../route.ts";
import { type BulkHandler, bulkInPath } from "./bulk.ts";

/**
 * `/api/email[/{email}[/{suffix}...]]` and the same for domains. The entry of the path wins over the
 * parameter; the parameter of the body wins over the one of the query.
 */
export function checkRoute(family: Family, checkOne: CheckOne, bulk: BulkHandler): Route {
  const mode: CheckRequest["mode"] = family === "email" ? "address" : "domain";
  return {
    family,
    methods: ["GET", "POST"],
    body: "params",
    parameters: new Set(["email", "domain", "bulk", ...parametersOf(...checkOperations(family))]),
    charges: "units",
    isSingle: (path, params) => !readCheckPath(path, mode).bulk && params?.flag("bulk") !== true,
    refused: (refusal, { isSingle }) => (isSingle ? refusal : refusal && forBulk(refusal)),
    handle(request) {
      const { params, admitted } = request;
      const path = readCheckPath(request.path, mode);
      if (path.bulk || params.flag("bulk")) {
        const text = path.entry || listOf(request);
        if (text === "") throw missingParameter(family);
        return bulk(request, { family, text, wantsResults: params.flag("json") });
      }
      const text = path.entry || (params.entry(family, mode) ?? "");
      if (text === "") throw missingParameter(family);
      const features = askedFeatures(path.features, params.names("features"));
      const answer = checkOne(admitted, { text, mode, features });
      const isOne = path.entry !== undefined || params.count(family) < 2;
      const hint = isOne && !isSeveral(text) ? {} : { headers: { [NOTICE]: SEVERAL } };
      return when(answer, ({ body, paidBy }) => ({
        type: JSON_TYPE,
        body,
        paidBy,
        entry: text,
        ...hint,
      }));
    },
  };
}

const SEVERAL = "One entry is checked; send bulk=1 to check several.";

function listOf({ params }: ApiRequest): string {
  const lists = [params.bulkText("email"), params.bulkText("domain")];
  return lists.filter((list) => list !== undefined && list !== "").join("\n");
}

/** What turns a single check into a bulk one when it stands behind the entries. */
const BULK_SUFFIXES: ReadonlySet<string> = new Set(["mass", "bulk"]);

interface CheckPath {
  /** The segments before the suffixes, joined with "/" again; absent when the path names no entry. */
  readonly entry: string | undefined;
  readonly features: readonly RequestedFeature[];
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

interface CheckSuffix {
  readonly features: readonly RequestedFeature[];
  readonly bulk: boolean;
}

const NO_FEATURES: readonly RequestedFeature[] = [];
const UNKNOWN: CheckSuffix = { features: NO_FEATURES, bulk: false };

/** What a segment asks for; undefined if a piece of it is unknown. */
function suffixOf(segment: string): CheckSuffix | undefined {
  if (segment.length > 1_000) return undefined;
  if (BULK_SUFFIXES.has(segment.toLowerCase())) return { features: NO_FEATURES, bulk: true };
  const features: RequestedFeature[] = [];
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

export function askedFeatures(
  inPath: readonly RequestedFeature[],
  byParameter: readonly string[],
): readonly RequestedFeature[] {
  return byParameter.length === 0 ? inPath : readFeatures([...inPath, ...byParameter]);
}

const WANTED =
  "Comma-separated premium features. What the plan lacks is listed in `requires_upgrade`; the answer is still 200.\n" +
  CHECKS.map(({ name, about }) => `- \`${name}\`: ${about}`).join("\n");

const WORDS = {
  email: {
    name: "Email",
    what: "an email address",
    example: "info@iana.org",
    result: { ...EXAMPLE_RESULT, alias: false },
  },
  domain: { name: "Domain", what: "a bare domain", example: "iana.org", result: EXAMPLE_RESULT },
};

type Family = keyof typeof WORDS;

export function checkOperations(family: Family): readonly Operation[] {
  const { name, what, example, result } = WORDS[family];
  const entry = {
    [family]: Type.String({ description: `Percent-encoded; "+" is a plus sign.`, example }),
  };
  // An empty value is a missing one.
  const named = { schema: Type.String({ minLength: 1, description: `${what}.`, example }) };
  const features = {
    schema: Type.Optional(Type.String({ description: WANTED, example: "spf,dmarc" })),
  };
  const check = (
    id: string,
    at: Operation["at"],
    how: string,
    more: Partial<Operation>,
  ): Operation => ({
    id: `check${name}${id}`,
    at,
    summary: `Check ${what} ${how}`,
    tag: "checks",
    answers: json("The result, of malformed input too.", component("Result"), result),
    refusals: {
      400: ["Nothing to check, or a parameter of a wrong type.", missingParameter(family)],
    },
    ...more,
  });
  return [
    check("", `POST /api/${family}`, "given in the body", {
      about:
        "`features` may be an array of texts. With `bulk` the value is a list and the answer that of `POST /api/bulk`.",
      body: { [family]: named, features },
      bodyExample: { [family]: example, features: "spf" },
    }),
    check("InQuery", `GET /api/${family}`, "given in the query", {
      query: { [family]: named, features },
    }),
    check("InPath", `GET /api/${family}/{${family}}`, "given in the path", {
      path: entry,
      query: { features },
      alsoPost: true,
    }),
    check(
      "WithFeature",
      `GET /api/${family}/{${family}}/{features}`,
      "with a premium feature as path suffix",
      {
        path: {
          ...entry,
          features: Type.Enum(FEATURES, {
            description: "Further names may follow as segments of their own.",
            example: "spf",
          }),
        },
        alsoPost: true,
      },
    ),
    bulkInPath(family),
  ];
}
