// A separate process, because trusted authorities are set at start: a list behind https, a proxy that
// tunnels to it or fails like real proxies, and the result of `fetchList` for each. Prints JSON.
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect, type Server } from "node:net";
import type { Duplex } from "node:stream";
import { fetchList } from "../../src/lists/feed-refresher.ts";
import { createOutbound } from "../../src/outbound/outbound.ts";
import type { Outbound } from "../../src/outbound/outbound-types.ts";
import { expiredCertificate, receiverCertificate, receiverKey } from "../process/certificates.ts";
import { patientClock } from "../time/real-clock.ts";
import { turningClock } from "../time/turning-clock.ts";

const LIST = `${Array.from({ length: 20_000 }, (_, n) => `bad${String(n)}.example`).join("\n")}\n`;

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const listServer = (cert: string): Server =>
  createHttps({ cert, key: receiverKey }, (request, response) => {
    if (request.url === "/moved") response.writeHead(302, { location: "/list" }).end();
    else if (request.headers["if-none-match"] === '"1"') response.writeHead(304).end();
    else response.writeHead(200, { etag: '"1"' }).end(LIST);
  });

const servers = [listServer(receiverCertificate), listServer(expiredCertificate)] as const;
const [good, expired] = [await portOf(servers[0]), await portOf(servers[1])];

/** What a proxy does with the socket of a CONNECT. */
type Tunnel = (client: Duplex) => void;

const FINE = "HTTP/1.1 200 Connection established\r\n\r\n";

/** Passes octets both ways, up to `most` of the server's, then closes. */
function tunnelTo(port: number, most = Infinity): Tunnel {
  return (client) => {
    const server = connect({ host: "127.0.0.1", port });
    let carried = 0;
    client.write(FINE);
    client.pipe(server).on("error", () => client.destroy());
    client.on("error", () => server.destroy());
    server.on("data", (data) => {
      carried += data.length;
      if (carried <= most) client.write(data);
      else client.destroy();
    });
    server.on("close", () => client.end());
  };
}

const says =
  (text: string): Tunnel =>
  (client) => {
    client.on("error", () => undefined);
    client.end(text);
  };

const keepsSilent: Tunnel = (client) => {
  client.on("error", () => undefined);
  client.write(FINE);
};

const fast = turningClock(20);

/** Time passes only if the proxy `isSilent`. */
async function ask(tunnel: Tunnel, { path = "/list", etag = "", isSilent = false } = {}) {
  const targets: string[] = [];
  const proxy = createHttp((_, response) => response.writeHead(400).end());
  proxy.on("connect", ({ url = "" }, client: Duplex) => {
    targets.push(url);
    tunnel(client);
  });
  const https = new URL(`http://127.0.0.1:${String(await portOf(proxy))}`);
  const { http } = createOutbound({
    addresses: () => Promise.reject(new Error("asked directly")),
    clock: isSilent ? fast.clock : patientClock,
    proxies: { https, http: undefined, direct: [] },
  });
  const quick: Outbound["http"] = (question) => http({ ...question, timeoutMs: 2_000 });
  const last = etag === "" ? undefined : { etag };
  const answer = await fetchList("ded", `https://receiver.example${path}`, last, quick);
  proxy.closeAllConnections();
  proxy.close();
  if ("body" in answer) return { targets, taken: Buffer.from(answer.body).toString() === LIST };
  const { kind, why, detail } = answer;
  // The exact OpenSSL error depends on its version.
  return { targets, kind, why, detail: detail?.replace(/ERR_SSL_\w+/, "ERR_SSL") };
}

const outcomes = {
  tunnelled: await ask(tunnelTo(good)),
  unchanged: await ask(tunnelTo(good), { etag: '"1"' }),
  moved: await ask(tunnelTo(good), { path: "/moved" }),
  noHttp: await ask(says("SSH-2.0-OpenSSH_9.2\r\n")),
  page: await ask(says(`${FINE}<html>Please sign in to this network</html>`)),
  silentTunnel: await ask(keepsSilent, { isSilent: true }),
  breaksOff: await ask(tunnelTo(good, 100_000)),
  expired: await ask(tunnelTo(expired)),
};
fast.stop();
for (const server of servers) server.close();
process.stdout.write(JSON.stringify(outcomes));
