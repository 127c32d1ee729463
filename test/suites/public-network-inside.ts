// Runs inside a network namespace with one public IPv4 and one public IPv6 address, and prints what
// happened as one line of JSON. The guard has no exceptions here.
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createSecure } from "node:https";
import { createServer as createTcp } from "node:net";
import { createServer as createTls, type TLSSocket } from "node:tls";
import { createOutbound } from "../../src/outbound/outbound.ts";
import { createWebhookSender } from "../../src/webhooks/webhook-sender.ts";
import type { Answer } from "../../src/core/mail/lookup.ts";
import type { HttpReply, OutboundResult } from "../../src/outbound/outbound-types.ts";
import { envelope } from "../../src/webhooks/dispatcher.ts";
import { sign } from "../../src/webhooks/verify.ts";
import { expiredCertificate, receiverCertificate, receiverKey } from "../process/certificates.ts";
import { drip, listening } from "../http/peer.ts";
import { patientClock } from "../time/real-clock.ts";
import { PUBLIC_V4 as V4, PUBLIC_V6 as V6 } from "../process/public-namespace.ts";
import { turningClock } from "../time/turning-clock.ts";

const TLS = { key: receiverKey, cert: receiverCertificate };

/** Up to twenty times as fast as real time: for receivers that never finish. */
const fast = turningClock(100);

const rebinding = [V4, "127.0.0.1"];
function addresses(host: string): Answer<string> {
  const found = (...records: string[]): Answer<string> => ({ kind: "found", records });
  if (host === "rebind.receiver.example") return found(rebinding.shift() ?? "127.0.0.1");
  if (host === "six.receiver.example") return found(V6);
  if (host === "mixed.receiver.example") return found(V4, "10.0.0.1");
  return found(V4);
}

const sender = createWebhookSender({ addresses, clock: patientClock });
const impatient = createWebhookSender({ addresses, clock: fast.clock });

async function post(url: string, by = sender) {
  const body = envelope("test.ping", '{"message":"Webhook endpoint verified."}', Date.now());
  return short(
    await by.post({ url, event: "test.ping", body, signature: sign("topsecret", body) }),
  );
}

const short = (result: OutboundResult<HttpReply>) =>
  result.ok
    ? { status: result.value.status, kept: result.value.body.length }
    : { fault: result.fault, detail: result.detail, status: result.status };

interface Seen {
  readonly raw: readonly string[];
  readonly body: string;
  readonly method: string;
  readonly path: string;
}
const seen: Seen[] = [];
let flooded = 0;

async function record(request: IncomingMessage): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  seen.push({
    raw: request.rawHeaders,
    body,
    method: request.method ?? "",
    path: request.url ?? "",
  });
}

const receive: RequestListener = (request, response) => {
  const path = request.url ?? "";
  void record(request).then(() => {
    if (path === "/redirect") response.writeHead(302, { location: "http://127.0.0.1:8080/" }).end();
    else if (path === "/loop") response.writeHead(307, { location: "/loop" }).end();
    else if (path === "/down") response.writeHead(302, { location: `http://${V4}:8080/end` }).end();
    else if (path === "/flood") flood(() => response.write(Buffer.alloc(65_536, "x")), response);
    else if (path === "/drip") drip(response.writeHead(200), "x");
    else response.end("y".repeat(5_000));
  });
};

function flood(
  write: () => boolean,
  to: { destroyed: boolean; once(event: "drain", more: () => void): unknown },
): void {
  while (!to.destroyed && flooded < 20_000_000) {
    flooded += 65_536;
    if (!write()) return void to.once("drain", () => flood(write, to));
  }
}

/** One trap on every address that must never be reached, at the requested ports. */
async function traps() {
  const hosts = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "::1", "fd00::1"];
  return Promise.all(
    hosts.flatMap((host) => [8443, 8080].map((port) => listening(createTcp(), host, port))),
  );
}

async function main(): Promise<void> {
  const trapped = await traps();
  const open = [
    await listening(createSecure(TLS, receive), V4, 8443),
    await listening(createSecure(TLS, receive), V6, 8443),
    await listening(createSecure({ ...TLS, cert: expiredCertificate }, receive), V4, 8444),
    await listening(createServer(receive), V4, 8445),
    await listening(
      createTls(TLS, (socket: TLSSocket) => drip(socket, "H")),
      V4,
      8446,
    ),
    await listening(createTcp(), V4, 8447),
    await listening(
      createServer((request, response) => {
        const location =
          request.url === "/up" ? `https://receiver.example:8443/end` : "http://10.0.0.1:8080/";
        response.writeHead(301, { location }).end();
      }),
      V4,
      8080,
    ),
  ];
  const outcome: Record<string, unknown> = {};
  outcome["name"] = await post("https://receiver.example:8443/hook?a=b");
  outcome["seen"] = seen.splice(0);
  outcome["sixName"] = await post("https://six.receiver.example:8443/");
  outcome["fourLiteral"] = await post(`https://${V4}:8443/`);
  outcome["sixLiteral"] = await post(`https://[${V6}]:8443/`);
  outcome["wrongName"] = await post("https://elsewhere.example:8443/");
  outcome["expired"] = await post("https://receiver.example:8444/");
  outcome["plain"] = await post("https://receiver.example:8445/");
  outcome["closed"] = await post("https://receiver.example:8448/");
  seen.length = 0;
  outcome["redirect"] = await post("https://receiver.example:8443/redirect");
  outcome["requestsForRedirect"] = seen.splice(0).length;
  outcome["flood"] = await post("https://receiver.example:8443/flood");
  outcome["flooded"] = flooded;
  outcome["dripBody"] = await post("https://receiver.example:8443/drip", impatient);
  outcome["dripStatus"] = await post("https://receiver.example:8446/", impatient);
  outcome["silentHandshake"] = await post("https://receiver.example:8447/", impatient);
  outcome["rebindFirst"] = await post("https://rebind.receiver.example:8443/");
  outcome["rebindSecond"] = await post("https://rebind.receiver.example:8443/");
  outcome["mixed"] = await post("https://mixed.receiver.example:8443/");
  outcome["literals"] = await Promise.all(
    [
      "127.0.0.1",
      "10.0.0.1",
      "169.254.169.254",
      "100.64.0.1",
      "[::1]",
      "[fd00::1]",
      "[::ffff:7f00:1]",
      "0",
      "2130706433",
    ].map(async (host) => (await post(`https://${host}:8443/`)).fault),
  );
  Object.assign(outcome, await redirects());
  outcome["trapped"] = trapped.reduce((sum, trap) => sum + trap.connections(), 0);
  fast.stop();
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
  await Promise.all([...trapped, ...open].map((peer) => peer.close()));
}

/** Like RDAP: redirects are followed if each target is public. */
async function redirects(): Promise<Record<string, unknown>> {
  const outbound = createOutbound({ addresses, clock: patientClock, allowed: [] });
  const get = async (url: string) =>
    short(
      await outbound.http({
        url,
        method: "GET",
        headers: {},
        timeoutMs: 5_000,
        maxBodyBytes: 10_000,
        maxRedirects: 3,
      }),
    );
  seen.length = 0;
  const followed = await get(`http://${V4}:8080/up`);
  const inward = await get(`http://${V4}:8080/in`);
  seen.length = 0;
  const loop = await get("https://receiver.example:8443/loop");
  const requestsForLoop = seen.splice(0).length;
  const downgrade = await get("https://receiver.example:8443/down");
  return { followed, inward, loop, requestsForLoop, downgrade };
}

await main();
