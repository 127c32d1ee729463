import type { Admission } from "../../accounts/admission/admission.ts";
import type { PublishedLists } from "../../lists/published-list.ts";
import { apiKeyRequired, publishableKeyElsewhere, type Refusal } from "../../base/refusals.ts";
import { refused } from "../answer/answer.ts";
import { isHeld } from "../answer/etag.ts";
import { type HttpRequest, JSON_TYPE, type Reply } from "../answer/route.ts";
import { addressOf, type TrustedProxies } from "../request/client-address.ts";
import { credentialsOf } from "../request/credentials.ts";
import type { Page } from "../routes.ts";

export interface DisposablePageDeps extends PublishedLists {
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
    : { type, headers, body: deps.expand(gzip) };
}

/** Credits do not pay for it. */
async function admit(
  source: HttpRequest,
  deps: DisposablePageDeps,
): Promise<{ readonly refusal: Refusal | undefined; readonly rate: Record<string, string> }> {
  const entrance = await deps.admission.enter(credentialsOf(source), addressOf(source, deps));
  const { caller, rate, refusal, creditsOnly } = entrance;
  return {
    refusal: refusal ?? creditsOnly ?? keyRefusal(caller),
    rate:
      rate === undefined
        ? {}
        : {
            "x-ratelimit-limit": String(rate.limit),
            "x-ratelimit-remaining": String(rate.remaining),
          },
  };
}

const keyRefusal = (caller: {
  readonly keyId?: string;
  readonly isPublishable?: boolean;
}): Refusal | undefined => {
  if (caller.keyId === undefined) return apiKeyRequired();
  return caller.isPublishable === true ? publishableKeyElsewhere() : undefined;
};

/** "gzip" or "*" with a quality above 0 (RFC 9110 section 12.5.3). */
function takesGzip({ headers }: HttpRequest): boolean {
  const offered = String(headers["accept-encoding"] ?? "").toLowerCase();
  return offered
    .split(",")
    .some((each) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/.test(each));
}
