import { Buffer } from "node:buffer";
import { request as startRequest } from "node:http";
import { connect, type Socket } from "node:net";
import type { HttpQuestion, HttpReply, OutboundResult } from "./outbound-types.ts";
import { codeOf, failure, hostOf, onAbort, portOf, ready, secure } from "./dial.ts";
import { exchange } from "./http-exchange.ts";

export interface ProxySettings {
  readonly https: URL | undefined;
  readonly http: URL | undefined;
  /** NO_PROXY: hosts, and suffixes of hosts, that are asked directly; "*" for all. */
  readonly direct: readonly string[];
}

export function proxyFor(
  { hostname, protocol }: URL,
  { https, http, direct }: ProxySettings,
): URL | undefined {
  const isDirect = direct.some((name) => {
    const suffix = name.replace(/^\*?\./, "").toLowerCase();
    return name === "*" || hostname === suffix || hostname.endsWith(`.${suffix}`);
  });
  if (isDirect) return undefined;
  return protocol === "https:" ? https : http;
}

export async function askThrough(
  proxy: URL,
  url: URL,
  question: HttpQuestion,
  signal: AbortSignal,
): Promise<OutboundResult<HttpReply>> {
  const toProxy = connect({ host: hostOf(proxy), port: portOf(proxy) });
  const opened = await ready(toProxy, "connect", signal);
  if (!opened.ok) return opened;
  if (url.protocol === "http:") {
    const headers = { ...question.headers, ...credentials(proxy) };
    return await exchange(opened.value, url, { ...question, headers, absoluteForm: true }, signal);
  }
  const tunnel = await openTunnel(opened.value, proxy, url, signal);
  if (!tunnel.ok) return tunnel;
  const secured = await secure(tunnel.value, hostOf(url), signal);
  return secured.ok ? await exchange(secured.value, url, question, signal) : secured;
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
    const authority = `${url.hostname}:${String(portOf(url))}`;
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
