import type { Answer, Registration, Until, UnknownReason } from "../../core/mail/lookup.ts";
import type { Clock } from "../../base/clock.ts";
import type { HttpReply, Outbound, OutboundFailure } from "../../outbound/outbound-types.ts";
import { readDomainAnswer } from "./domain-answer.ts";
import { retryAfterMs } from "./event-date.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { ServerSlots } from "./server-slots.ts";

export interface RdapDeps {
  readonly outbound: Pick<Outbound, "http">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly slots: ServerSlots;
  /** The owner in whose turn the question is asked. */
  readonly by?: OwnerKey | undefined;
  /** Nothing is sent later. */
  readonly until: Until;
  /** Of one question, redirects included. */
  readonly timeoutMs: number;
}

const BYTES_MAX = 1_048_576;
const REDIRECTS_MAX = 3;

/** How long a server that failed is not asked, and the bounds for the time that its Retry-After may name. */
const FAILED_MS = 5_000;
const BUSY_MS = 60_000;
const BUSY_MAX_MS = 3_600_000;

export const unknown = (why: UnknownReason): Answer<never> => ({ kind: "unknown", why });

/** Asks the server at `base` for `domain` (RFC 9082 section 3.1.3). */
export async function askRdap(
  base: string,
  domain: string,
  deps: RdapDeps,
): Promise<Answer<Registration>> {
  const server = new URL(base).origin;
  const answer = await deps.slots.run(
    server,
    async (until = deps.until) => {
      if (until.isPast) return unknown("deadline");
      const reply = await deps.outbound.http({
        url: `${base}domain/${domain}`,
        method: "GET",
        headers: { Accept: "application/rdap+json", "User-Agent": "gatepost" },
        timeoutMs: deps.timeoutMs,
        maxBodyBytes: BYTES_MAX,
        maxRedirects: REDIRECTS_MAX,
        until,
      });
      if (reply.ok) return check(reply.value, { server, domain }, deps);
      // Where one name's redirect leads says nothing of the registry, which answered.
      const isOfServer = reply.isRedirected !== true && reply.fault !== "malformed";
      if (isOfServer) deps.slots.hold(server, FAILED_MS);
      return unknown(reasonOf(reply));
    },
    deps.by,
  );
  return answer ?? unknown("refused");
}

/** RFC 7480 section 5: 200 is an answer, 404 is "no such domain", any other status says nothing about the domain. */
function check(
  reply: HttpReply,
  { server, domain }: { readonly server: string; readonly domain: string },
  { slots, clock }: RdapDeps,
): Answer<Registration> {
  const { status, headers, body, cut, isRedirected = false } = reply;
  if (status === 404) return { kind: "absent", why: "noName" };
  if (status === 200) return cut ? unknown("malformed") : readDomainAnswer(body, domain);
  if ((status === 429 || status >= 500) && !isRedirected) {
    const asked = retryAfterMs(headers["retry-after"], clock.nowMs());
    const usual = status === 429 ? BUSY_MS : FAILED_MS;
    slots.hold(server, Math.min(asked ?? usual, BUSY_MAX_MS));
  }
  return unknown(status >= 500 ? "servfail" : "refused");
}

/** The reason of `unknown` for a connection or exchange that failed. */
export function reasonOf({ fault }: OutboundFailure): UnknownReason {
  if (fault === "timeout") return "timeout";
  if (fault === "malformed") return "malformed";
  return fault === "redirect" || fault === "not_public" || fault === "bad_url"
    ? "refused"
    : "network";
}
