import type { HttpQuestion, HttpReply, Outbound, OutboundResult } from "./outbound-types.ts";
import { dial, type DialDeps, failure, withDeadline } from "./dial.ts";
import { exchange } from "./http-exchange.ts";
import { askThrough, proxyFor, type ProxySettings } from "./proxied.ts";

export interface OutboundDeps extends DialDeps {
  readonly proxies?: ProxySettings;
}

/** Dials directly unless the operator's proxy is set for a URL. The proxy looks names up: no address is checked then. */
export function createOutbound({ proxies, ...deps }: OutboundDeps): Outbound {
  return {
    http: (question) =>
      withDeadline(question.timeoutMs, deps.clock, (signal) =>
        followRedirects(question, async (url, named) => {
          const proxy = proxies && proxyFor(url, proxies);
          if (proxy !== undefined) return askThrough(proxy, url, question, signal);
          // The operator allowed the peer that was named; whom that peer names, nobody did.
          const allowed = named ? deps.allowed : undefined;
          const socket = await dial(url, { ...deps, allowed }, signal);
          return socket.ok ? exchange(socket.value, url, question, signal) : socket;
        }),
      ),
  };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** `askUrl` asks one URL; `named`: it is the one the question named, not where a redirect led. */
async function followRedirects(
  question: HttpQuestion,
  askUrl: (url: URL, named: boolean) => Promise<OutboundResult<HttpReply>>,
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
