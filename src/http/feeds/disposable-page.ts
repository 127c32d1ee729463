import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Admission } from "../../accounts/admission/admission.ts";
import type { CurrentFile } from "../../lists/current-file.ts";
import type { PublishedFile, PublishedFiles } from "../../lists/published-list.ts";
import { apiKeyRequired, publishableKeyElsewhere } from "../../base/refusals.ts";
import { isHeld } from "../answer/etag.ts";
import { JSON_TYPE } from "../answer/route.ts";
import { clientAddress, type TrustedProxies } from "../request/client-address.ts";
import { credentialsOf } from "../request/credentials.ts";

export interface DisposablePageDeps {
  readonly published: CurrentFile<PublishedFiles>;
  /** For the library: tables that it reads as they lie. */
  readonly packed: CurrentFile<PublishedFile>;
  /** The plain text of a compressed one, piece by piece. */
  readonly expand: (gzip: Uint8Array) => NodeJS.ReadableStream;
  readonly admission: Pick<Admission, "enter">;
  readonly trustedProxies: TrustedProxies;
}

const TYPES = {
  txt: "text/plain; charset=utf-8",
  json: JSON_TYPE,
  lists: "application/octet-stream",
} as const;

/** GET /feeds/disposable.txt, .json and .lists: for systems that take a list. Needs a key; costs a request of its rate. */
export function addDisposablePage(app: FastifyInstance, deps: DisposablePageDeps): void {
  for (const form of ["txt", "json", "lists"] as const) {
    app.get(`/feeds/disposable.${form}`, async (request, reply) => {
      await admit(request, reply, deps);
      const { gzip, etag } =
        form === "lists" ? await deps.packed.current() : (await deps.published.current())[form];
      reply.headers({
        etag,
        "cache-control": "private, max-age=300",
        vary: "Accept-Encoding",
        "x-content-type-options": "nosniff",
      });
      if (isHeld(request.headers["if-none-match"], etag)) return reply.code(304).send();
      reply.type(TYPES[form]);
      if (takesGzip(request)) return reply.header("content-encoding", "gzip").send(gzip);
      return reply.send(deps.expand(gzip));
    });
  }
}

/** Throws a `Refusal`; credits do not pay for it. */
async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  { admission, trustedProxies }: DisposablePageDeps,
): Promise<void> {
  const { headers, socket } = request.raw;
  const forwarded = headers["x-forwarded-for"];
  const forwardedFor = typeof forwarded === "string" ? forwarded : forwarded?.join(",");
  const address = clientAddress(socket.remoteAddress, forwardedFor, trustedProxies);
  const { caller, rate, refusal, creditsOnly } = await admission.enter(
    credentialsOf(request.raw),
    address,
  );
  if (rate !== undefined) {
    reply.header("x-ratelimit-limit", rate.limit).header("x-ratelimit-remaining", rate.remaining);
  }
  const refused = refusal ?? creditsOnly;
  if (refused !== undefined) throw refused;
  if (caller.keyId === undefined) throw apiKeyRequired();
  if (caller.isPublishable === true) throw publishableKeyElsewhere();
}

/** "gzip" or "*" with a quality above 0 (RFC 9110 section 12.5.3). */
function takesGzip({ headers }: FastifyRequest): boolean {
  const offered = String(headers["accept-encoding"] ?? "").toLowerCase();
  return offered
    .split(",")
    .some((each) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/.test(each));
}
