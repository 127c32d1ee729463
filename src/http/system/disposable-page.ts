import { createGunzip } from "node:zlib";
import type { Admission } from "../../accounts/admission/admission.ts";
import type { Caller } from "../../accounts/admission/caller.ts";
import {
  apiKeyRequired,
  publishableKeyElsewhere,
  rateExceeded,
  type Refusal,
} from "../../base/refusals.ts";
import { orNull, Type } from "../../core/json-schema.ts";
import type { Answer, Operation } from "../operation.ts";
import type { PublishedLists } from "../../lists/published-list.ts";
import { refused } from "../answer.ts";
import { addressOf, credentialsOf, type TrustedProxies } from "../client-address.ts";
import { isHeld, takesGzip } from "../files.ts";
import { type HttpRequest, JSON_TYPE, type Reply } from "../route.ts";
import type { Page } from "../routes.ts";

interface DisposablePageDeps extends PublishedLists {
  readonly admission: Pick<Admission, "enter">;
  readonly trustedProxies: TrustedProxies;
}

const TYPES = {
  txt: "text/plain; charset=utf-8",
  json: JSON_TYPE,
  lists: "application/octet-stream",
} as const;

/** GET /feeds/disposable.txt, .json and .lists: for systems that take a list. Needs a key; costs a request of its rate. */
export const disposablePages = (deps: DisposablePageDeps): readonly Page[] =>
  (["txt", "json", "lists"] as const).map((form) => ({
    method: "GET",
    path: `/feeds/disposable.${form}`,
    handle: ({ source }) => listIn(form, source, deps),
  }));

async function listIn(
  form: keyof typeof TYPES,
  source: HttpRequest,
  deps: DisposablePageDeps,
): Promise<Reply> {
  const { refusal, rate } = await admit(source, deps);
  if (refusal !== undefined) {
    const reply = refused(refusal, undefined);
    return { ...reply, headers: { ...rate, ...reply.headers } };
  }
  const { gzip, etag } = form === "lists" ? await deps.packed() : (await deps.published())[form];
  const headers = {
    ...rate,
    etag,
    "cache-control": "private, max-age=300",
    vary: "Accept-Encoding",
    "x-content-type-options": "nosniff",
  };
  if (isHeld(source.headers["if-none-match"], etag)) return { status: 304, headers };
  const type = TYPES[form];
  return takesGzip(source)
    ? { type, headers: { ...headers, "content-encoding": "gzip" }, body: gzip }
    : { type, headers, body: createGunzip().end(gzip) };
}

/** Credits do not pay for it. */
async function admit(source: HttpRequest, deps: DisposablePageDeps) {
  const entrance = await deps.admission.enter(credentialsOf(source), addressOf(source, deps));
  const { caller, rate, refusal, creditsOnly } = entrance;
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
  form: string,
  type: string,
  answer: Omit<Answer, "about">,
): Operation => ({
  id: `getDisposable${id}`,
  at: `GET /feeds/disposable.${form}`,
  summary: `Disposable domains for systems that take a list, as ${type}`,
  tag: "system",
  key: "needed",
  answers: { [type]: { about: "See docs/feeds.md; with `ETag`, for `If-None-Match`.", ...answer } },
  isCacheable: true,
  refusals: {
    401: ["No key, or one that is invalid or revoked.", apiKeyRequired()],
    403: ["A publishable key.", publishableKeyElsewhere()],
    429: ["The rate is spent.", rateExceeded(30_000)],
  },
});

export const disposableOperations: readonly Operation[] = [
  documented("Text", "txt", "text/plain", { schema: Type.String(), example: "mailinator.com\n" }),
  documented("Json", "json", "application/json", {
    schema: PublishedList,
    example: { feeds: [], left_out: [], licences: {}, count: 0, names: [] },
  }),
  documented("Lists", "lists", "application/octet-stream", {
    schema: Type.String({ format: "binary" }),
  }),
];
