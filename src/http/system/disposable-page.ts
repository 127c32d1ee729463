import { createGunzip } from "node:zlib";
import type { Admission } from "../../accounts/admission/admission.ts";
import type { Caller } from "../../accounts/admission/caller.ts";
import {
  apiKeyRequired,
  badParameter,
  publishableKeyElsewhere,
  rateExceeded,
  type Refusal,
} from "../../base/refusals.ts";
import { orNull, Type } from "../../core/json-schema.ts";
import { type Operation, type OperationAnswer, optionalFlag, optionalText } from "../operation.ts";
import type { PublishedLists } from "../../lists/published-list.ts";
import { refused } from "../answer.ts";
import { addressOf, credentialsOf, type TrustedProxies } from "../client-address.ts";
import { keyAt } from "../compat/shape.ts";
import { isCurrent, takesGzip } from "../files.ts";
import { NO_PARAMS, Params } from "../params.ts";
import { type HttpRequest, JSON_TYPE, type RouteReply } from "../route.ts";
import type { Page, PageRequest } from "../routes.ts";

interface DisposablePageDeps extends PublishedLists {
  readonly admission: Pick<Admission, "enter">;
  readonly trustedProxies: TrustedProxies;
}

const TYPES = {
  txt: "text/plain; charset=utf-8",
  json: JSON_TYPE,
  lists: "application/octet-stream",
} as const;

/**
 * GET /feeds/disposable.txt, .json, .lists and /feeds/free.txt: for systems that take a list. Needs a key; costs a request of
 * its rate.
 */
export const disposablePages = (deps: DisposablePageDeps): readonly Page[] =>
  (["disposable.txt", "disposable.json", "disposable.lists", "free.txt"] as const).map((name) => ({
    method: "GET",
    path: `/feeds/${name}`,
    handle: (request) => listIn(name, request, deps),
  }));

/** Many programs send a password only where the answer asks for one. */
const ASKS_PASSWORD = { "www-authenticate": 'Basic realm="Gatepost"' };

async function listIn(
  name: string,
  { source, target }: PageRequest,
  deps: DisposablePageDeps,
): Promise<RouteReply> {
  const { refusal, rate } = await admit(source, deps);
  if (refusal !== undefined) {
    const reply = refused(refusal, undefined);
    const asks = reply.status === 401 ? ASKS_PASSWORD : {};
    return { ...reply, headers: { ...rate, ...reply.headers, ...asks } };
  }
  const { type, gzip, etag } = await fileNamed(name, target.query, deps);
  const headers = {
    ...rate,
    etag,
    "cache-control": "private, max-age=300",
    vary: "Accept-Encoding",
    "x-content-type-options": "nosniff",
  };
  if (isCurrent(source.headers["if-none-match"], etag)) return { status: 304, headers };
  return takesGzip(source)
    ? { type, headers: { ...headers, "content-encoding": "gzip" }, body: gzip }
    : { type, headers, body: createGunzip().end(gzip) };
}

async function fileNamed(name: string, query: string, deps: DisposablePageDeps) {
  if (name === "disposable.lists") return { type: TYPES.lists, ...(await deps.packed()) };
  if (name === "disposable.json") return { type: TYPES.json, ...(await deps.published()).json };
  const form = textFormOf(query);
  const files = name === "free.txt" ? await deps.free() : await deps.published();
  return { type: TYPES.txt, ...files[form] };
}

const TEXT_QUERY: Operation["query"] = {
  wildcards: optionalFlag("`1` adds `*.name` after each name."),
  separator: optionalText("One line, without remarks.", { enum: ["comma"] }),
};

const TEXT_PARAMETERS: ReadonlySet<string> = new Set(Object.keys(TEXT_QUERY));

function textFormOf(query: string) {
  const params = new Params({ kind: "none" }, query, TEXT_PARAMETERS);
  const separator = params.given("separator");
  if (separator !== undefined && separator !== "comma") throw badParameter("separator", "comma");
  if (separator === undefined) return params.flag("wildcards") ? "wildcards" : "txt";
  return params.flag("wildcards") ? "wildcardsComma" : "comma";
}

/** Many programs that fetch a list can send a key as the password of a URL alone. */
function keyOf(source: HttpRequest) {
  const given = credentialsOf(source);
  const password = keyAt({ scheme: "basic" }, NO_PARAMS, source.headers);
  const isPassword = password !== undefined && given.apiKey.length === 0;
  return isPassword ? { apiKey: [password], authorization: [] } : given;
}

/** Credits do not pay for it. */
async function admit(source: HttpRequest, deps: DisposablePageDeps) {
  const admitted = await deps.admission.enter(keyOf(source), addressOf(source, deps));
  const { caller, rate, refusal, creditsOnly } = admitted;
  const headers: Record<string, string> = {};
  if (rate !== undefined) {
    headers["x-ratelimit-limit"] = String(rate.limit);
    headers["x-ratelimit-remaining"] = String(rate.remaining);
  }
  return { refusal: refusal ?? creditsOnly ?? keyRefusal(caller), rate: headers };
}

function keyRefusal({ keyId, isPublishable }: Caller): Refusal | undefined {
  if (keyId === undefined) return apiKeyRequired();
  return isPublishable === true ? publishableKeyElsewhere() : undefined;
}

const SINCE = "The day it was first seen; null when it came with the program.";

const PublishedList = Type.Object({
  feeds: Type.Array(
    Type.Object({
      id: Type.String(),
      kind: Type.String(),
      names: Type.Integer(),
      spdx: Type.String(),
      copyright: Type.String(),
      url: Type.String(),
    }),
  ),
  left_out: Type.Array(Type.String(), { description: "Feeds that may not be passed on." }),
  licences: Type.Object(
    {},
    { additionalProperties: true, description: "Texts by SPDX identifier." },
  ),
  count: Type.Integer(),
  names: Type.Array(
    Type.Object({
      name: Type.String(),
      first_seen: orNull(Type.String(), SINCE),
      kinds: Type.Array(Type.String(), { description: "curated, uncurated, doubtful, weak." }),
      feeds: Type.Array(Type.String()),
    }),
  ),
});

const documented = (
  id: string,
  name: `${"disposable" | "free"}.${keyof typeof TYPES}`,
  answer: Omit<OperationAnswer, "about">,
  query?: Operation["query"],
): Operation => {
  const form = name.slice(name.indexOf(".") + 1) as keyof typeof TYPES;
  const [type = ""] = TYPES[form].split(";");
  const what = name === "free.txt" ? "Public mailbox providers" : "Disposable domains";
  return {
    id: `get${id}`,
    at: `GET /feeds/${name}`,
    summary: `${what} for systems that take a list, as ${type}`,
    tag: "system",
    key: "needed",
    answers: {
      [type]: { about: "See docs/feeds.md; with `ETag`, for `If-None-Match`.", ...answer },
    },
    isCacheable: true,
    ...(query !== undefined && { query }),
    refusals: {
      ...(query !== undefined && {
        400: ["The separator is another one.", badParameter("separator", "comma")],
      }),
      401: ["No key, or one that is invalid or revoked.", apiKeyRequired()],
      403: ["A publishable key.", publishableKeyElsewhere()],
      429: ["The rate is spent.", rateExceeded(30_000)],
    },
  };
};

const EMPTY_LIST = { feeds: [], left_out: [], licences: {}, count: 0, names: [] };

export const disposableOperations: readonly Operation[] = [
  documented(
    "DisposableText",
    "disposable.txt",
    { schema: Type.String(), example: "mailinator.com\n" },
    TEXT_QUERY,
  ),
  documented("DisposableJson", "disposable.json", { schema: PublishedList, example: EMPTY_LIST }),
  documented("DisposableLists", "disposable.lists", { schema: Type.String({ format: "binary" }) }),
  documented("FreeText", "free.txt", { schema: Type.String(), example: "gmail.com\n" }, TEXT_QUERY),
];
