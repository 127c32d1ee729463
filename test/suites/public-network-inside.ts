// Runs inside a network namespace with one public IPv4 and one public IPv6 address, and prints what
// happened as one line of JSON. The guard has no exceptions here.
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createSecure } from "node:https";
import { createServer as createTcp } from "node:net";
import { createOutbound } from "../../src/outbound/outbound.ts";
import { createWebhookSender } from "../../src/webhooks/webhook-sender.ts";
import type { Answer } from "../../src/core/mail/lookup.ts";
import type { HttpReply, OutboundResult } from "../../src/outbound/outbound-types.ts";
import { envelope } from "../../src/webhooks/dispatcher.ts";
import { sign } from "../../src/webhooks/verify.ts";
import { receiverCertificate, receiverKey } from "../process/certificates.ts";
import { listening } from "../http/peer.ts";
import { patientClock } from "../time/real-clock.ts";
import { PUBLIC_V4 as V4, PUBLIC_V6 as V6 } from "../process/public-namespace.ts";

const TLS = { key: receiverKey, cert: receiverCertificate };

const rebinding = [V4, "127.0.0.1"];
function addresses(host: string): Answer<string> {
  const found = (...records: string[]): Answer<string> => ({ kind: "found", records });
  if (host === "rebind.receiver.example") return found(rebinding.shift() ?? "127.0.0.1");
  if (host === "six.receiver.example") return found(V6);
  if (host === "mixed.receiver.example") return found(V4, "10.0.0.1");
  return found(V4);
}

const sender = createWebhookSender({ addresses, clock: patientClock });

async function post(url: string) {
  const body = envelope("test.ping", '{"message":"Webhook endpoint verified."}', Date.now());
  return short(
    await sender.post({ url, event: "test.ping", body, signature: sign("topsecret", body) }),
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
  void record(request).then(() => response.end("y".repeat(5_000)));
};

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
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
  await Promise.all([...trapped, ...open].map((peer) => peer.close()));
}

/** Like RDAP: redirects are followed if each target is public. */
async function redirects(): Promise<Record<string, unknown>> {
  const outbound = createOutbound({ addresses, clock: patientClock });
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
  const followed = await get(`http://${V4}:8080/up`);
  const inward = await get(`http://${V4}:8080/in`);
  return { followed, inward };
}

await main();
