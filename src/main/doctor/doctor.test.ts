import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { manualClock } from "../../../test/time/manual-clock.ts";
import type { OutboundResult, HttpReply } from "../../outbound/outbound-types.ts";
import { readConfig } from "../settings/config.ts";
import { dnsFilters } from "../health.ts";
import { examineFeeds, examineMemory, inOneLine } from "./diagnose.ts";
import { finding } from "./found.ts";
import { examineFetchProxies, examineTime, examineUrls } from "./network.ts";

const MIB = 1_048_576;
const HOUR_MS = 3_600_000;

const memories: readonly (readonly [
  what: string,
  mebibytes: number,
  cacheMb: number,
  state: string,
])[] = [
  ["with less than the work takes", 370, 128, "wrong"],
  ["with room for the work", 380, 128, "note"],
  ["with room for all bodies", 520, 128, "ok"],
  ["whose caches are small", 300, 8, "note"],
];

for (const [what, mebibytes, cacheMb, state] of memories) {
  test(`doctor: memory of a container ${what}`, () => {
    const found = examineMemory({ cacheMb }, mebibytes * MIB);
    assert.equal(finding("memory", found).state, state);
  });
}

const feeds = [
  ["were never fetched, on the first day", undefined, 1, "ok", /^Some were never fetched/],
  ["were never fetched, on the third day", undefined, 49, "note", /^1 of 1 public lists/],
  ["were confirmed today", 48, 49, "ok", /^All that were asked for were confirmed/],
] as const;

for (const [what, confirmedHour, nowHour, state, says] of feeds) {
  test(`doctor: lists that ${what}`, () => {
    const feed = { id: "a", curated: true, names: 1, from: "package" } as const;
    const confirmedAtMs = confirmedHour && confirmedHour * HOUR_MS;
    const found = finding(
      "feeds",
      examineFeeds([{ ...feed, askedAtMs: 0, confirmedAtMs }], readConfig({}), {
        nowMs: nowHour * HOUR_MS,
        bornMs: 0,
      }),
    );
    assert.equal(found.state, state);
    assert.match(found.says, says);
  });
}

const trusts: readonly (readonly [
  settings: Record<string, string>,
  state: string,
  says: RegExp,
])[] = [
  [{}, "ok", /^None is trusted/],
  [{ GATEPOST_PUBLIC_URL: "https://127.0.0.1:9" }, "note", /no proxy is trusted/],
  [
    {
      GATEPOST_PUBLIC_URL: "https://127.0.0.1:9",
      GATEPOST_TRUST_PROXY: "10.0.0.1, 192.168.0.0/16",
    },
    "ok",
    /believed of 10\.0\.0\.1, 192\.168\.0\.0\/16/,
  ],
  [{ GATEPOST_TRUST_PROXY: "10.0.0.1,0.0.0.0/0" }, "wrong", /Every address is trusted/],
  [{ GATEPOST_TRUST_PROXY: "::/0" }, "wrong", /Every address is trusted/],
];

for (const [settings, state, says] of trusts) {
  test(`doctor: trusted proxies of ${JSON.stringify(settings)}`, async () => {
    const [, finding] = await examineUrls(readConfig(settings));
    assert.equal(finding?.state, state);
    assert.match(finding.says, says);
  });
}

/** What the public URL answers, the trusted proxies, and the states of both findings. */
const fronts: readonly (readonly [
  what: string,
  status: number,
  headers: Record<string, string>,
  trusted: string,
  states: readonly string[],
])[] = [
  ["the service", 200, {}, "127.0.0.1", ["ok", "ok"]],
  ["a proxy without the path", 404, {}, "127.0.0.1", ["wrong", "ok"]],
  ["Cloudflare in front of nginx", 200, { "cf-ray": "1-AMS" }, "127.0.0.1", ["ok", "note"]],
  [
    "Cloudflare that is trusted",
    200,
    { "cf-ray": "1-AMS" },
    "127.0.0.1,173.245.48.0/20",
    ["ok", "ok"],
  ],
];

for (const [what, status, headers, trusted, states] of fronts) {
  test(`doctor: at the public URL answers ${what}`, async (t) => {
    const server = createHttpServer((_request, response) => {
      response.writeHead(status, headers).end();
    }).listen(0, "127.0.0.1");
    t.after(() => server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const findings = await examineUrls(
      readConfig({
        GATEPOST_PUBLIC_URL: `http://127.0.0.1:${String(port)}/base`,
        GATEPOST_TRUST_PROXY: trusted,
      }),
    );
    assert.deepEqual(
      findings.map(({ state }) => state),
      states,
    );
  });
}

test("doctor: a public URL that nobody answers is a note", async () => {
  const config = readConfig({ GATEPOST_PUBLIC_URL: "http://127.0.0.1:9" });
  const [finding] = await examineUrls(config);
  assert.equal(finding?.state, "note");
  assert.match(finding.says, /does not answer from here/);
});

test("doctor: a proxy for feeds must accept connections, and its password is not shown", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  const config = readConfig({
    HTTPS_PROXY: `http://jo:secret@127.0.0.1:${String(port)}`,
    HTTP_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "a.example b.example",
  });
  const findings = await examineFetchProxies(config);
  server.close();
  assert.deepEqual(
    findings.map(({ name, state }) => [name, state]),
    [
      ["HTTPS_PROXY", "ok"],
      ["HTTP_PROXY", "wrong"],
    ],
  );
  assert.match(findings[0]?.says ?? "", /except for a\.example, b\.example \(NO_PROXY\)/);
  assert.doesNotMatch(JSON.stringify(findings), /secret/);
  assert.deepEqual(await examineFetchProxies(readConfig({})), []);
});

const answer = (date: string | undefined): OutboundResult<HttpReply> => ({
  ok: true,
  value: { status: 404, headers: { date }, body: new Uint8Array(), cut: true },
});
const at = (seconds: number): string =>
  new Date(manualClock().nowMs() + seconds * 1_000).toUTCString();

const times: readonly (readonly [
  what: string,
  answer: OutboundResult<HttpReply>,
  state: string,
])[] = [
  ["the same", answer(at(0)), "ok"],
  ["59 s ahead", answer(at(59)), "ok"],
  ["61 s ahead", answer(at(61)), "wrong"],
  ["an hour behind", answer(at(-3_600)), "wrong"],
  ["not told", answer(undefined), "note"],
  ["no date", answer("yesterday"), "note"],
  ["of a server that cannot be reached", { ok: false, fault: "unreachable" }, "note"],
];

for (const [what, told, state] of times) {
  test(`doctor: the time of another machine is ${what}`, async () => {
    const outbound = { http: () => Promise.resolve(told) };
    const found = await examineTime(readConfig({}), outbound, manualClock());
    assert.equal(finding("time", found).state, state);
  });
}

test("doctor: nobody is asked for the time where fetching is off", async () => {
  const off = readConfig({ GATEPOST_LISTS_REFRESH: "off" });
  const outbound = { http: () => assert.fail("asked") };
  const found = await examineTime(off, outbound, manualClock());
  assert.equal(finding("time", found).state, "ok");
});

test("doctor: what the running service counts of a filter stands in the resolver's line", () => {
  const served = dnsFilters(3);
  const found = [finding("service", served), finding("resolver", dnsFilters())];
  const lines = inOneLine(found).map(({ name, says }) => `${name}: ${says}`);
  assert.deepEqual(lines, [`resolver: ${served.says}`]);
  assert.match(served.says, /^This resolver filters: it withheld 3 names today\./);
  const alone = inOneLine([finding("service", served), finding("resolver", "It tells the truth.")]);
  assert.equal(alone.length, 2);
});
