import { Buffer } from "node:buffer";
import { request as startRequest } from "node:http";
import { connect, type Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { HttpQuestion, HttpReply, Outbound, OutboundResult } from "./outbound-types.ts";
import { codeOf, failure, onAbort, ready, secure, withDeadline } from "./dial.ts";
import { exchange } from "./http-exchange.ts";
import { followRedirects } from "./outbound.ts";

export interface ProxySettings {
  /** HTTPS_PROXY and HTTP_PROXY: for targets of that scheme. */
  readonly https: URL | undefined;
  readonly http: URL | undefined;
  /** NO_PROXY: hosts, and suffixes of hosts, that are asked directly; "*" for all. */
  readonly direct: readonly string[];
}

/** By the operator's proxy where one is set for the URL. The proxy looks names up, so no address is checked. */
export function createProxiedHttp(
  proxies: ProxySettings,
  { direct, clock }: { readonly direct: Outbound["http"]; readonly clock: Pick<Clock, "after"> },
): Outbound["http"] {
  return (question) => {
    if (proxyFor(question.url, proxies) === undefined) return direct(question);
    return withDeadline(question.timeoutMs, clock, (signal) =>
      followRedirects(question, (url, named) => {
        const proxy = proxyFor(url.href, proxies);
        if (proxy !== undefined) return askThrough(proxy, url, question, signal);
        // A redirect to a host that is asked directly: then every address must be public.
        const isRedirected = !named;
        return direct({ ...question, url: url.href, maxRedirects: 0, isRedirected });
      }),
    );
  };
}

function proxyFor(href: string, { https, http, direct }: ProxySettings): URL | undefined {
  if (!URL.canParse(href)) return undefined;
  const { hostname, protocol } = new URL(href);
  const isDirect = direct.some((name) => {
    const suffix = name.replace(/^\*?\./, "").toLowerCase();
    return name === "*" || hostname === suffix || hostname.endsWith(`.${suffix}`);
  });
  if (isDirect) return undefined;
  return protocol === "https:" ? https : http;
}

async function askThrough(
  proxy: URL,
  url: URL,
  question: HttpQuestion,
  signal: AbortSignal,
): Promise<OutboundResult<HttpReply>> {
  const toProxy = await open(proxy, signal);
  if (!toProxy.ok) return toProxy;
  const socket = toProxy.value;
  if (url.protocol === "http:") {
    const headers = { ...question.headers, ...credentials(proxy) };
    return await exchange(socket, url, { ...question, headers, absoluteForm: true }, signal);
  }
  const tunnel = await openTunnel(socket, proxy, url, signal);
  if (!tunnel.ok) return tunnel;
  const secured = await secure(tunnel.value, url.hostname.replace(/^\[|\]$/g, ""), signal);
  return secured.ok ? await exchange(secured.value, url, question, signal) : secured;
}

async function open(proxy: URL, signal: AbortSignal): Promise<OutboundResult<Socket>> {
  const host = proxy.hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(proxy.port === "" ? "80" : proxy.port) });
  const result = await ready(socket, "connect", signal);
  return result.ok ? { ok: true, value: socket } : result;
}

function credentials({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === "") return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "Proxy-Authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** CONNECT (RFC 9110 section 9.3.6). */
function openTunnel(
  socket: Socket,
  proxy: URL,
  url: URL,
  signal: AbortSignal,
): Promise<OutboundResult<Socket>> {
  return new Promise((resolve) => {
    const authority = `${url.hostname}:${url.port === "" ? "443" : url.port}`;
    const request = startRequest({
      createConnection: () => socket,
      method: "CONNECT",
      path: authority,
      headers: { Host: authority, ...credentials(proxy) },
      setDefaultHeaders: false,
    });
    const fail = (fault: "unreachable" | "timeout", detail: string): void => {
      socket.destroy();
      resolve(failure(fault, detail));
    };
    const off = onAbort(signal, () => fail("timeout", "proxy"));
    request.on("error", (error) => fail("unreachable", `proxy ${codeOf(error)}`));
    request.on("response", ({ statusCode }) => fail("unreachable", `proxy ${String(statusCode)}`));
    request.on("connect", ({ statusCode = 0 }, tunnel: Socket, head: Uint8Array) => {
      off(); // from here on the deadline is for whoever uses the tunnel to tell
      if (head.length > 0) tunnel.unshift(head);
      if (statusCode >= 200 && statusCode < 300) resolve({ ok: true, value: tunnel });
      else fail("unreachable", `proxy ${String(statusCode)}`);
    });
    request.end();
  });
}
