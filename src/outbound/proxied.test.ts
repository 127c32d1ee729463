import { strict as assert } from "node:assert";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { realClock } from "../../test/time/real-clock.ts";
import { createOutbound } from "./outbound.ts";
import type { ProxySettings } from "./proxied.ts";
import { AddressRanges } from "./public-address.ts";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
}

/** A proxy on loopback that answers plain questions itself and refuses or breaks tunnels. */
async function openProxy(t: TestContext, answer: RequestListener, tunnel = "403 Forbidden") {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    seen.push({ method, url, authorization: headers["proxy-authorization"] });
    answer(request, response);
  });
  server.on("connect", ({ method, url, headers }, socket) => {
    seen.push({ method, url, authorization: headers["proxy-authorization"] });
    socket.end(`HTTP/1.1 ${tunnel}\r\n\r\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { seen, url: new URL(`http://user:p%20w@127.0.0.1:${String(port)}`) };
}

/** `asked` are the hosts that DNS is asked for: those that are asked directly. All lie inside, where the operator allows. */
function askWith(settings: Partial<ProxySettings>, timeoutMs = 5_000) {
  const asked: string[] = [];
  const { http } = createOutbound({
    clock: realClock,
    addresses: (host) => {
      asked.push(host);
      return { kind: "found", records: ["127.0.0.2"] };
    },
    allowed: new AddressRanges(["127.0.0.2"]),
    proxies: { https: undefined, http: undefined, direct: [], ...settings },
  });
  const ask = (url: string) =>
    http({ url, method: "GET", headers: {}, timeoutMs, maxBodyBytes: 1_000, maxRedirects: 2 });
  return { ask, asked };
}

const AUTHORIZATION = `Basic ${Buffer.from("user:p w").toString("base64")}`;

test("a plain target is asked of the proxy by its whole URL, with the proxy's credentials", async (t) => {
  const proxy = await openProxy(t, (_, response) => response.end("names"));
  const { ask } = askWith({ http: proxy.url });
  const reply = await ask("http://lists.example/a?b=1");
  assert.ok(reply.ok);
  assert.equal(Buffer.from(reply.value.body).toString(), "names");
  assert.deepEqual(proxy.seen, [
    { method: "GET", url: "http://lists.example/a?b=1", authorization: AUTHORIZATION },
  ]);
});

test("a redirect goes through the proxy again, and not for ever", async (t) => {
  const proxy = await openProxy(t, ({ url = "" }, response) =>
    response.writeHead(302, { location: `${url}x` }).end(),
  );
  const { ask } = askWith({ http: proxy.url });
  const reply = await ask("http://lists.example/a");
  assert.deepEqual([reply.ok, !reply.ok && reply.fault, proxy.seen.length], [false, "redirect", 3]);
});

test("behind https a tunnel is asked for, and a refused one is told", async (t) => {
  const proxy = await openProxy(t, (_, response) => response.end(), "407 Who are you");
  const reply = await askWith({ https: proxy.url }).ask("https://lists.example/a");
  assert.deepEqual(reply, { ok: false, fault: "unreachable", detail: "proxy 407" });
  assert.deepEqual(proxy.seen, [
    { method: "CONNECT", url: "lists.example:443", authorization: AUTHORIZATION },
  ]);
});

test("a tunnel that ends before TLS is told as such", async (t) => {
  const proxy = await openProxy(t, (_, response) => response.end(), "200 Fine");
  const reply = await askWith({ https: proxy.url }).ask("https://lists.example/a");
  assert.deepEqual([reply.ok, !reply.ok && reply.fault], [false, "tls"]);
});

test("a proxy that never answers is given up in time", async (t) => {
  const proxy = await openProxy(t, () => undefined);
  const reply = await askWith({ http: proxy.url }, 200).ask("http://lists.example/a");
  assert.deepEqual([reply.ok, !reply.ok && reply.fault], [false, "timeout"]);
});

const directs = [
  ["no proxy is set for the scheme", [], "https://lists.example:1/"],
  ["the host is named", ["lists.example"], "http://lists.example:1/"],
  ["a suffix of the host is named", [".example"], "http://lists.example:1/"],
  ["a suffix is named with a star", ["*.example"], "http://lists.example:1/"],
  ["all hosts are", ["*"], "http://lists.example:1/"],
] as const;

for (const [name, direct, url] of directs) {
  test(`asked directly: ${name}`, async () => {
    const { ask, asked } = askWith({ http: new URL("http://127.0.0.1:1"), direct });
    assert.deepEqual(await ask(url), { ok: false, fault: "unreachable", detail: "ECONNREFUSED" });
    assert.deepEqual(asked, ["lists.example"]);
  });
}

test("a redirect from the proxy to a host that is asked directly may not use what the operator allows", async (t) => {
  const proxy = await openProxy(t, (_request, response) => {
    response.writeHead(302, { location: "http://inside.example/secret" }).end();
  });
  const { ask, asked } = askWith({ http: proxy.url, direct: ["inside.example"] });
  const refused = { ok: false, fault: "not_public", detail: "127.0.0.2", isRedirected: true };
  assert.deepEqual(await ask("http://list.example/"), refused);
  assert.deepEqual(asked, ["inside.example"]);
});
