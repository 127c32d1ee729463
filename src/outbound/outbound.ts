import type { HttpQuestion, HttpReply, Outbound, OutboundResult } from "./outbound-types.ts";
import { dial, type DialDeps, failure, type Peer, realConnect, withDeadline } from "./dial.ts";
import { exchange } from "./http-exchange.ts";

export type OutboundDeps = Omit<DialDeps, "connect"> & Partial<Pick<DialDeps, "connect">>;

/** Dials directly, never through a proxy. */
export function createOutbound(given: OutboundDeps): Outbound {
  const deps: DialDeps = { connect: realConnect, ...given };
  return {
    http: (question) =>
      withDeadline(question.timeoutMs, deps.clock, (signal) =>
        followRedirects(question, async (url, named) => {
          // The operator allowed the peer that was named; whom that peer names, nobody did.
          const allowed = named && question.isRedirected !== true ? deps.allowed : [];
          const socket = await dial(peerOf(url), { ...deps, allowed }, signal);
          return socket.ok ? exchange(socket.value, url, question, signal) : socket;
        }),
      ),
  };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Asks one URL; `named`: it is the one the question named, not where a redirect led. */
type AskUrl = (url: URL, named: boolean) => Promise<OutboundResult<HttpReply>>;

export async function followRedirects(
  question: Pick<HttpQuestion, "url" | "maxRedirects" | "until">,
  askUrl: AskUrl,
): Promise<OutboundResult<HttpReply>> {
  let url = readUrl(question.url);
  for (let hops = 0; ; hops += 1) {
    if (url === undefined)
      return hops === 0 ? failure("bad_url") : redirectedTo(failure("redirect"));
    const reached = await askUrl(url, hops === 0);
    const result = hops === 0 ? reached : redirectedTo(reached);
    if (!result.ok || question.maxRedirects === 0) return result;
    const { location } = result.value.headers;
    if (location === undefined || !REDIRECTS.has(result.value.status)) return result;
    if (question.until?.isPast === true) return redirectedTo(failure("timeout"));
    if (hops === question.maxRedirects) return redirectedTo(failure("redirect", "too many"));
    url = redirectTarget(url, location);
  }
}

const redirectedTo = (result: OutboundResult<HttpReply>): OutboundResult<HttpReply> =>
  result.ok
    ? { ok: true, value: { ...result.value, isRedirected: true } }
    : { ...result, isRedirected: true };

function readUrl(text: string, base?: string): URL | undefined {
  if (!URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  const known = url.protocol === "https:" || url.protocol === "http:";
  return known && url.username === "" && url.password === "" ? url : undefined;
}

function redirectTarget(from: URL, location: string): URL | undefined {
  const to = readUrl(location, from.href);
  return from.protocol === "https:" && to?.protocol === "http:" ? undefined : to;
}

function peerOf({ hostname, port, protocol }: URL): Peer {
  const tls = protocol === "https:";
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "");
  return { host, port: port === "" ? (tls ? 443 : 80) : Number(port), tls };
}
