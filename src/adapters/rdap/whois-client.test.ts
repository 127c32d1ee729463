import { strict as assert } from "node:assert";
import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { drip, httpPeer, tcpPeer } from "../../../test/http/peer.ts";
import type { WhoisServer } from "./whois-servers.ts";
import {
  kept,
  scratch,
  type Setup,
  world,
  file,
  serve,
  short,
  patience,
} from "../../../test/rdap/registry-world.ts";

const RU_LIKE: Omit<WhoisServer, "port"> = {
  suffixes: ["example", "co.example"],
  host: "127.0.0.1",
  query: "%/e",
  registered: /^created: +(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)T/m,
  absent: /^No entries found/m,
};

async function whois(onSocket: (socket: Socket) => void, more: Setup = {}) {
  const peer = await kept(tcpPeer(onSocket));
  const whoisServers = [{ ...RU_LIKE, port: peer.port }];
  const bootstrap = serve({ other: "http://127.0.0.1:1/" });
  return { ...(await world({ bootstrap, whoisServers, ...more })), peer };
}

const whoisAnswers: readonly (readonly [name: string, (socket: Socket) => void, want: string])[] = [
  [
    "a date by the registry's pattern",
    (socket) => socket.end("domain: A\r\ncreated:   2001-02-03T04:05:06Z\r\n"),
    "2001-02-03T00:00:00.000Z",
  ],
  [
    "line feeds alone",
    (socket) => socket.end("x: y\ncreated: 2001-02-03T04:05:06Z\n"),
    "2001-02-03T00:00:00.000Z",
  ],
  [
    "no such domain",
    (socket) => socket.end("% hi\r\nNo entries found for the selected source(s).\r\n"),
    "absent noName",
  ],
  [
    "a complaint about too many questions",
    (socket) => socket.end("You have exceeded allowed connection rate\r\n"),
    "unknown malformed",
  ],
  [
    "a date that is none",
    (socket) => socket.end("created: 2001-02-30T04:05:06Z\r\n"),
    "unknown malformed",
  ],
  ["nothing", (socket) => socket.end(), "unknown malformed"],
  [
    "octets that are no text",
    (socket) => socket.end(Buffer.from([0xff, 0xfe, 0x00])),
    "unknown malformed",
  ],
  [
    "ten megabytes",
    (socket) => socket.write(Buffer.alloc(10_485_760, "created: ")),
    "unknown malformed",
  ],
  ["a slow drip", (socket) => drip(socket, "created: "), "unknown timeout"],
  ["a reset", (socket) => socket.on("data", () => socket.resetAndDestroy()), "unknown network"],
];
for (const [name, onSocket, want] of whoisAnswers) {
  test(`RFC 3912 section 2: ${name}`, async () => {
    const { registration } = await whois(onSocket, { timeoutMs: patience(want) });
    assert.equal(short(await registration("a.example")), want);
  });
}

test("RFC 3912 section 2: the question is one line that ends in CRLF", async () => {
  let line = "";
  const { registration } = await whois((socket) => {
    socket.on("data", (chunk: Buffer) => {
      line += chunk.toString();
      if (line.endsWith("\r\n")) socket.end("No entries found\r\n");
    });
  });
  await registration("a.example");
  assert.equal(line, "a.example/e\r\n");
});

test("WHOIS is asked only where RDAP is missing, and only when it is switched on", async () => {
  const rdap = await kept(httpPeer((_request, response) => response.writeHead(404).end()));
  const withRdap = await whois((socket) => socket.end(), {
    bootstrap: serve({ example: `${rdap.url}/` }),
  });
  await withRdap.registration("a.example");
  assert.deepEqual([rdap.connections(), withRdap.peer.connections()], [1, 0]);
  const off = await whois((socket) => socket.end(), { whoisServers: [] });
  assert.equal(short(await off.registration("a.example")), "absent noData");
  assert.equal(off.peer.connections(), 0);
});

test("WHOIS stands behind the same guard", async () => {
  const path = join(await scratch(), "dns.json");
  const document = file({ other: "http://127.0.0.1:1/" });
  const url = "http://127.0.0.1:1/";
  await writeFile(path, JSON.stringify({ url, fetchedAtMs: manualClock().nowMs(), document }));
  const guarded = await whois((socket) => socket.end(), { path, url, allow: [] });
  assert.equal(short(await guarded.registration("a.example")), "unknown refused");
  assert.equal(guarded.peer.connections(), 0);
});
