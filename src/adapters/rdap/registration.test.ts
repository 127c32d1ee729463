import { strict as assert } from "node:assert";
import type { RequestListener, ServerResponse } from "node:http";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import type { Answer, Registration } from "../../core/mail/lookup.ts";
import type { RegistrationCache } from "../../ports/evidence/registration-cache.ts";
import { keptLog } from "../../../test/process/kept-log.ts";
import { type ManualClock, manualClock } from "../../../test/time/manual-clock.ts";
import { drip, httpPeer, type Peer, tcpPeer } from "../../../test/http/peer.ts";
import { realClock } from "../../../test/time/real-clock.ts";
import { memoryRegistrationCache } from "../memory/registration-cache.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { parseRanges } from "../outbound/public-address.ts";
import { createBootstrapCopy } from "./bootstrap-copy.ts";
import { createRegistration } from "./registration.ts";
import { createShares, ONE_OWNER } from "../../ports/sharing/shares.ts";
import type { WhoisServer } from "./whois-servers.ts";
import { until } from "../../../test/time/until.ts";

const DAY_MS = 86_400_000;
const closing: (() => Promise<unknown>)[] = [];
after(() => Promise.all(closing.map((close) => close())));

async function kept(peer: Promise<Peer>): Promise<Peer> {
  const made = await peer;
  closing.push(() => made.close());
  return made;
}

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "gatepost-rdap-"));
  closing.push(() => rm(folder, { recursive: true }));
  return folder;
}

/** A busy machine must not make anybody time out. */
const PATIENCE_MS = 60_000;

interface World {
  readonly registration: (domain: string, by?: string) => Promise<Answer<Registration>>;
  readonly clock: ManualClock;
  readonly log: ReturnType<typeof keptLog>;
  readonly path: string;
}

interface Setup {
  readonly bootstrap?: RequestListener;
  readonly path?: string;
  readonly url?: string;
  readonly cache?: RegistrationCache;
  readonly whoisServers?: readonly WhoisServer[];
  readonly timeoutMs?: number;
  readonly allow?: readonly string[];
  readonly clock?: ManualClock;
  /** Who asks; one unless given. */
  readonly owners?: "several";
}

const sharesFor = ({ owners }: Setup) =>
  createShares(undefined, owners === "several" ? {} : ONE_OWNER);

/** The whole client as main wires it, over real sockets; deadlines run on real time, dates on the manual clock. */
async function world(setup: Setup): Promise<World> {
  const ranges = parseRanges(setup.allow ?? ["127.0.0.0/8"]);
  const outbound = createOutbound({
    addresses: () => ({ kind: "absent", why: "noName" }),
    clock: realClock,
    allowed: ranges.ok ? ranges.ranges : [],
  });
  const clock = setup.clock ?? manualClock();
  const log = keptLog();
  const path = setup.path ?? join(await scratch(), "rdap", "dns.json");
  const url = setup.url ?? (await kept(httpPeer(setup.bootstrap ?? serve({})))).url;
  const ids = { hex32: () => "0".repeat(32) };
  const bootstrap = createBootstrapCopy({ url, path, outbound, clock, ids, log });
  const registration = createRegistration({
    bootstrap,
    outbound,
    cache: setup.cache ?? memoryRegistrationCache(),
    clock,
    log,
    shares: sharesFor(setup),
    whoisServers: setup.whoisServers ?? [],
    timeoutMs: setup.timeoutMs ?? PATIENCE_MS,
  });
  return { registration: async (domain, by) => registration(domain, by), clock, log, path };
}

/** A bootstrap file (RFC 9224 section 3) from suffix to URLs. */
function file(services: Readonly<Record<string, string | readonly string[]>>): string {
  return JSON.stringify({
    version: "1.0",
    publication: "2026-11-01T00:00:00Z",
    services: Object.entries(services).map(([suffix, urls]) => [[suffix], [urls].flat()]),
  });
}

const serve =
  (services: Readonly<Record<string, string | readonly string[]>>): RequestListener =>
  (_request, response) =>
    response.end(file(services));

/** A client whose registry for ".example" answers as given. */
async function registry(listener: RequestListener, more: Omit<Setup, "bootstrap"> = {}) {
  const peer = await kept(httpPeer(listener));
  return { ...(await world({ ...more, bootstrap: serve({ example: `${peer.url}/` }) })), peer };
}

const registeredOn = (date: string) => ({ eventAction: "registration", eventDate: date });
const domainObject = (more: object = {}) => ({
  objectClassName: "domain",
  ldhName: "a.example",
  events: [registeredOn("1997-09-15T04:00:00Z")],
  ...more,
});
const found = (date: string) => ({
  kind: "found",
  records: [{ registeredAtMs: Date.parse(date) }],
});

function short(answer: Answer<Registration>): string {
  if (answer.kind === "found") {
    return answer.records
      .map(({ registeredAtMs }) => new Date(registeredAtMs).toISOString())
      .join();
  }
  return `${answer.kind} ${answer.why}`;
}

const bodies: readonly (readonly [name: string, body: unknown, want: string])[] = [
  [
    "RFC 9083 section 4.5: the event registration is the date",
    domainObject(),
    "1997-09-15T04:00:00.000Z",
  ],
  [
    "RFC 9083 section 4.5: other events are not",
    domainObject({
      events: [
        { eventAction: "last changed", eventDate: "2020-01-01T00:00:00Z" },
        { eventAction: "reregistration", eventDate: "2021-01-01T00:00:00Z" },
        registeredOn("2001-02-03T00:00:00Z"),
        { eventAction: "expiration", eventDate: "2030-01-01T00:00:00Z" },
      ],
    }),
    "2001-02-03T00:00:00.000Z",
  ],
  [
    "RFC 9083 section 4.5: eventDate may carry an offset",
    domainObject({ events: [registeredOn("2001-02-03T00:00:00+02:00")] }),
    "2001-02-02T22:00:00.000Z",
  ],
  [
    "RFC 9083 section 4.5: eventAction in another case still is the action",
    domainObject({ events: [{ eventAction: "Registration", eventDate: "2001-02-03" }] }),
    "2001-02-03T00:00:00.000Z",
  ],
  [
    "RFC 9083 section 4.5: no event of that name is no date",
    domainObject({ events: [] }),
    "absent noData",
  ],
  [
    "RFC 9083 section 4.5: events are optional",
    domainObject({ events: undefined }),
    "absent noData",
  ],
  [
    "RFC 9083 section 4.5: a date that is none says nothing",
    domainObject({ events: [registeredOn("<b>1997</b>")] }),
    "unknown malformed",
  ],
  [
    "RFC 9083 section 4.5: an event without a date says nothing",
    domainObject({ events: [{ eventAction: "registration" }] }),
    "unknown malformed",
  ],
  [
    "RFC 9083 section 4.5: events that are no array say nothing",
    domainObject({ events: {} }),
    "unknown malformed",
  ],
  [
    "RFC 9083 section 4.5: members of events that are no objects are passed over",
    domainObject({ events: [null, 7, "x", [], registeredOn("1999-01-01")] }),
    "1999-01-01T00:00:00.000Z",
  ],
  [
    "RFC 9083 section 3: ldhName is optional",
    domainObject({ ldhName: undefined }),
    "1997-09-15T04:00:00.000Z",
  ],
  [
    "RFC 9083 section 3: ldhName may have any case and a last dot",
    domainObject({ ldhName: "A.EXAMPLE." }),
    "1997-09-15T04:00:00.000Z",
  ],
  [
    "RFC 9083 section 5.3: an answer about another domain says nothing",
    domainObject({ ldhName: "b.example" }),
    "unknown malformed",
  ],
  [
    "RFC 9083 section 5.3: another object class is no domain",
    domainObject({ objectClassName: "entity" }),
    "unknown malformed",
  ],
  [
    "RFC 9083 section 5.3: no object class is no domain",
    domainObject({ objectClassName: undefined }),
    "unknown malformed",
  ],
  [
    "RFC 9083 section 6: an error object in a 200 says nothing",
    { errorCode: 500, title: "no" },
    "unknown malformed",
  ],
  [
    "RFC 9083 section 2.1: unknown members are ignored",
    domainObject({ x_extension: { a: [1] } }),
    "1997-09-15T04:00:00.000Z",
  ],
  ["RFC 8259 section 2: an array is no object", [domainObject()], "unknown malformed"],
  ["RFC 8259 section 2: null is no object", null, "unknown malformed"],
];

for (const [name, body, want] of bodies) {
  test(name, async () => {
    const { registration } = await registry((_request, response) =>
      response.end(JSON.stringify(body)),
    );
    assert.equal(short(await registration("a.example")), want);
  });
}

const raw: readonly (readonly [name: string, listener: RequestListener, want: string])[] = [
  [
    "RFC 7480 section 5.3: 404 is no such domain",
    (_, response) => response.writeHead(404).end(),
    "absent noName",
  ],
  [
    "RFC 7480 section 5.3: 404 with a page of HTML too",
    (_, response) => response.writeHead(404).end("<html>"),
    "absent noName",
  ],
  [
    "RFC 7480 section 5.4: 400 says nothing of the domain",
    (_, response) => response.writeHead(400).end(),
    "unknown refused",
  ],
  [
    "RFC 7480 section 5.5: 429 says nothing of the domain",
    (_, response) => response.writeHead(429).end(),
    "unknown refused",
  ],
  [
    "RFC 9110 section 15.5.2: 401 says nothing of the domain",
    (_, response) => response.writeHead(401).end(),
    "unknown refused",
  ],
  [
    "RFC 9110 section 15.6: 500 says nothing of the domain",
    (_, response) => response.writeHead(500).end(),
    "unknown servfail",
  ],
  [
    "RFC 9110 section 15.3.5: 204 is no answer",
    (_, response) => response.writeHead(204).end(),
    "unknown refused",
  ],
  [
    "RFC 7480 section 5.2: a redirect to an address that is not public is not followed",
    (_, response) => response.writeHead(302, { location: "http://127.0.0.1/" }).end(),
    "unknown refused",
  ],
  [
    "RFC 7480 section 5.2: a redirect without a target is no answer",
    (_, response) => response.writeHead(301).end(),
    "unknown refused",
  ],
  [
    "RFC 8259: text that is no JSON says nothing",
    (_, response) => response.end("<!doctype html>"),
    "unknown malformed",
  ],
  [
    "RFC 8259: JSON that is cut off says nothing",
    (_, response) => response.end(JSON.stringify(domainObject()).slice(0, -1)),
    "unknown malformed",
  ],
  [
    "RFC 8259 section 8.1: octets that are no UTF-8 say nothing",
    (_, response) => response.end(Buffer.from([0x7b, 0xff, 0x7d])),
    "unknown malformed",
  ],
  ["an empty body says nothing", (_, response) => response.end(), "unknown malformed"],
  [
    "a content coding nobody asked for says nothing",
    (_, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(Buffer.from([31, 139, 8, 0])),
    "unknown malformed",
  ],
  [
    "JSON nested a hundred thousand deep says nothing",
    (_, response) => response.end("[".repeat(100_000)),
    "unknown malformed",
  ],
  [
    "a connection that breaks says nothing",
    (request) => request.socket.destroy(),
    "unknown network",
  ],
  ["a peer that never answers says nothing", () => undefined, "unknown timeout"],
  [
    "a body that drips past the total time says nothing",
    (_, response) => drip(response, " "),
    "unknown timeout",
  ],
];

/** Little only where the time itself is the test. */
const patience = (want: string): number => (want === "unknown timeout" ? 250 : PATIENCE_MS);

for (const [name, listener, want] of raw) {
  test(name, async () => {
    const { registration } = await registry(listener, { timeoutMs: patience(want) });
    assert.equal(short(await registration("a.example")), want);
  });
}

test("a body of ten megabytes is cut at one and says nothing", async () => {
  let sent = 0;
  const { registration } = await registry((_request, response) => {
    const piece = Buffer.alloc(65_536, " ");
    const more = (): void => {
      while (sent < 10_485_760 && !response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) return void response.once("drain", more);
      }
      response.end(JSON.stringify(domainObject()));
    };
    more();
  });
  assert.equal(short(await registration("a.example")), "unknown malformed");
  assert.ok(sent < 10_485_760, "the connection was not cut");
});

test("a body of exactly one megabyte is read", async () => {
  const text = JSON.stringify(domainObject());
  const padding = " ".repeat(1_048_576 - text.length);
  const { registration } = await registry((_request, response) => response.end(text + padding));
  assert.equal((await registration("a.example")).kind, "found");
});

test("RFC 9082 section 3.1.3 and RFC 7480 section 4.2: path and media type of the question", async () => {
  const seen: string[] = [];
  const { registration } = await registry((request, response) => {
    seen.push(`${request.method ?? ""} ${request.url ?? ""}`, request.headers.accept ?? "");
    response.end(JSON.stringify(domainObject({ ldhName: "xn--bcher-kva.example" })));
  });
  await registration("xn--bcher-kva.example");
  assert.deepEqual(seen, ["GET /domain/xn--bcher-kva.example", "application/rdap+json"]);
});

const hostileNames = [
  "",
  "a",
  "a.example\r\nx",
  "../a.example",
  "a.example/x",
  "A.EXAMPLE",
  "a..example",
  "ä.example",
  "a.example.",
];

test("what is no lower-case host name in A-labels is never asked", async () => {
  const { registration, peer } = await registry((_request, response) => response.end("{}"));
  for (const name of hostileNames.filter((each) => each !== "A.EXAMPLE")) {
    assert.equal(short(await registration(name)), "absent noName", name);
  }
  assert.equal(peer.connections(), 0);
});

const matches: readonly (readonly [name: string, domain: string, want: string])[] = [
  ["RFC 9224 section 4: a suffix serves what is under it", "a.example", "one"],
  ["RFC 9224 section 4: the longest match wins", "a.co.example", "two"],
  ["RFC 9224 section 4: a match is of whole labels", "a.xco.example", "one"],
  ["RFC 9224 section 4: case in the file does not matter", "a.upper", "three"],
  ["RFC 9224 section 4: an A-label matches", "a.xn--p1ai", "four"],
  ["RFC 9224 section 3: a base URL without a last slash gets one", "a.bare", "five"],
];

for (const [name, domain, want] of matches) {
  test(name, async () => {
    const seen: string[] = [];
    const peer = await kept(
      httpPeer((request, response) => {
        seen.push(request.url?.split("/")[1] ?? "");
        response.writeHead(404).end();
      }),
    );
    const at = (path: string) => `${peer.url}/${path}`;
    const services = {
      example: at("one/"),
      "co.example": at("two/"),
      UPPER: at("three/"),
      "xn--p1ai": at("four/"),
      bare: at("five"),
    };
    const { registration } = await world({ bootstrap: serve(services) });
    await registration(domain);
    assert.deepEqual(seen, [want]);
  });
}

test("RFC 9224 section 4: a suffix in no service has no RDAP, which is no date and no failure", async () => {
  const { registration } = await world({ bootstrap: serve({ other: "http://127.0.0.1:1/" }) });
  assert.equal(short(await registration("a.example")), "absent noData");
});

test("RFC 9224 section 8: https is taken where there is one", async () => {
  const plain = await kept(httpPeer((_request, response) => response.writeHead(404).end()));
  const tls = await kept(tcpPeer((socket) => socket.destroy()));
  const urls = [`${plain.url}/`, `https://127.0.0.1:${String(tls.port)}/`];
  const { registration } = await world({ bootstrap: serve({ example: urls }) });
  await registration("a.example");
  assert.deepEqual([plain.connections(), tls.connections()], [0, 1]);
});

test("RFC 9224 section 3: services that make no sense are passed over", async () => {
  const peer = await kept(httpPeer((_request, response) => response.writeHead(404).end()));
  const services = [
    7,
    null,
    [],
    [["x"]],
    [[1, null], ["http://127.0.0.1/"]],
    [["example"], ["ftp://x/", 5, "no", `${peer.url}/`]],
  ];
  const { registration } = await world({
    bootstrap: (_request, response) => response.end(JSON.stringify({ version: "1.0", services })),
  });
  assert.equal(short(await registration("a.example")), "absent noName");
});

test("without any bootstrap nobody could say, and the fetch is tried again after a minute", async () => {
  let fetches = 0;
  const { registration, clock } = await world({
    bootstrap: (_request, response) => {
      fetches += 1;
      response.writeHead(503).end();
    },
  });
  assert.equal(short(await registration("a.example")), "unknown network");
  assert.equal(short(await registration("a.example")), "unknown network");
  assert.equal(fetches, 1);
  clock.advance(60_000);
  await registration("a.example");
  assert.equal(fetches, 2);
});

test("a registry in the bootstrap at an address that is not public is never dialled", async () => {
  const peer = await kept(httpPeer((_request, response) => response.end("{}")));
  const path = join(await scratch(), "dns.json");
  const document = file({ example: `${peer.url}/` });
  await writeFile(
    path,
    JSON.stringify({ url: "http://127.0.0.1:1/", fetchedAtMs: manualClock().nowMs(), document }),
  );
  const { registration } = await world({ path, url: "http://127.0.0.1:1/", allow: [] });
  assert.equal(short(await registration("a.example")), "unknown refused");
  assert.equal(peer.connections(), 0);
});

test("the bootstrap is fetched once for all who ask, kept over a restart, and again after a week", async () => {
  let fetches = 0;
  const peer = await kept(httpPeer((_request, response) => response.writeHead(404).end()));
  const listener: RequestListener = (request, response) => {
    fetches += 1;
    serve({ example: `${peer.url}/` })(request, response);
  };
  const url = (await kept(httpPeer(listener))).url;
  const first = await world({ url });
  await Promise.all(
    ["a.example", "b.example", "c.example"].map((name) => first.registration(name)),
  );
  assert.equal(fetches, 1);
  const { document } = JSON.parse(await readFile(first.path, "utf8")) as { document: string };
  assert.match(document, /"services"/);

  const second = await world({ url, path: first.path });
  second.clock.advance(7 * DAY_MS - 1);
  assert.equal(short(await second.registration("a.example")), "absent noName");
  assert.equal(fetches, 1);
  second.clock.advance(1);
  assert.equal(short(await second.registration("b.example")), "absent noName");
  await until(() => fetches === 2);
});

test("while the weekly fetch fails or brings nonsense, the old copy serves and nobody waits for it", async () => {
  const peer = await kept(httpPeer((_request, response) => response.writeHead(404).end()));
  const replies: RequestListener[] = [
    serve({ example: `${peer.url}/` }),
    (_request, response) => response.end(JSON.stringify({ version: "1.0", services: [] })),
    () => undefined,
  ];
  let fetches = 0;
  const { registration, clock, log } = await world({
    bootstrap: (request, response) => {
      replies[fetches]?.(request, response);
      fetches += 1;
    },
  });
  await registration("a.example");
  clock.advance(8 * DAY_MS);
  assert.equal(short(await registration("b.example")), "absent noName");
  await until(() => log.events.includes("rdap.bootstrap_invalid"));
  clock.advance(60_000);
  assert.equal(short(await registration("c.example")), "absent noName");
  await until(() => fetches === 3);
});

test("a copy that cannot take its place leaves nothing behind, and serves this run", async () => {
  const path = join(await scratch(), "dns.json");
  await mkdir(join(path, "in the way"), { recursive: true });
  const { registration, log } = await registry(
    (_, response) => response.end(JSON.stringify(domainObject())),
    { path },
  );
  assert.equal(short(await registration("a.example")), "1997-09-15T04:00:00.000Z");
  assert.deepEqual(log.events, ["rdap.bootstrap_save_failed"]);
  assert.deepEqual(await readdir(dirname(path)), ["dns.json"]);
});

test("a damaged copy on disk is as none", async () => {
  const path = join(await scratch(), "dns.json");
  await writeFile(path, '{"document": "{}"');
  const { registration } = await world({
    path,
    bootstrap: serve({ other: "http://127.0.0.1:1/" }),
  });
  assert.equal(short(await registration("a.example")), "absent noData");
});

test("a date is reused for seven days and a missing one for an hour", async () => {
  let asked = 0;
  const { registration, clock } = await registry((request, response) => {
    asked += 1;
    if (request.url === "/domain/b.example") response.writeHead(404).end();
    else response.end(JSON.stringify(domainObject()));
  });
  const first = await registration("a.example");
  assert.equal(first.expiresAtMs, clock.nowMs() + 7 * DAY_MS);
  await registration("b.example");
  clock.advance(3_599_999);
  await registration("a.example");
  await registration("b.example");
  assert.equal(asked, 2);
  clock.advance(1);
  await registration("b.example");
  assert.equal(asked, 3);
  clock.advance(7 * DAY_MS - 3_600_000);
  assert.deepEqual(
    { ...(await registration("a.example")), expiresAtMs: 0 },
    { ...found("1997-09-15T04:00:00Z"), expiresAtMs: 0 },
  );
  assert.equal(asked, 4);
});

test("what nobody could say is not reused", async () => {
  let asked = 0;
  const { registration, clock } = await registry((_request, response) => {
    asked += 1;
    if (asked === 1) response.writeHead(500).end();
    else response.end(JSON.stringify(domainObject()));
  });
  assert.equal((await registration("a.example")).kind, "unknown");
  clock.advance(5_000);
  assert.equal((await registration("a.example")).kind, "found");
});

test("a cache that fails costs a question, not the answer", async () => {
  const broken: RegistrationCache = {
    read: () => Promise.reject(new Error("down")),
    save: () => Promise.reject(new Error("down")),
    prune: () => Promise.reject(new Error("down")),
  };
  const listener: RequestListener = (_request, response) =>
    response.end(JSON.stringify(domainObject()));
  const { registration, log } = await registry(listener, { cache: broken });
  assert.equal((await registration("a.example")).kind, "found");
  assert.deepEqual(log.events, ["registrations.read_failed", "registrations.save_failed"]);
});

test("nothing of an answer but the date is kept", async () => {
  const saved: unknown[] = [];
  const cache = memoryRegistrationCache();
  const spy: RegistrationCache = {
    ...cache,
    save: (...row) => (saved.push(row), cache.save(...row)),
  };
  const person = domainObject({
    entities: [{ vcardArray: ["vcard", [["fn", {}, "text", "Jo Doe"]]] }],
  });
  const listener: RequestListener = (_request, response) => response.end(JSON.stringify(person));
  const { registration, log, clock } = await registry(listener, { cache: spy });
  await registration("a.example");
  assert.deepEqual(saved, [
    [
      "a.example",
      {
        registeredAtMs: Date.parse("1997-09-15T04:00:00Z"),
        expiresAtMs: clock.nowMs() + 7 * DAY_MS,
      },
    ],
  ]);
  assert.doesNotMatch(log.text(), /Doe/);
});

const retries = [
  ["RFC 9110 section 10.2.3: seconds", "120", 120_000],
  ["RFC 9110 section 10.2.3: a date", "Fri, 20 Nov 2026 12:02:00 GMT", 120_000],
  ["RFC 7480 section 5.5: no header, a minute", undefined, 60_000],
  ["a day, cut to an hour", "86400", 3_600_000],
] as const;

for (const [name, header, waitMs] of retries) {
  test(`after a 429 the server is left alone: ${name}`, async () => {
    let asked = 0;
    const { registration, clock } = await registry((_request, response) => {
      asked += 1;
      response.writeHead(429, header === undefined ? {} : { "retry-after": header }).end();
    });
    await registration("a.example");
    clock.advance(waitMs - 1);
    assert.equal(short(await registration("b.example")), "unknown refused");
    assert.equal(asked, 1);
    clock.advance(1);
    await registration("b.example");
    assert.equal(asked, 2);
  });
}

test("at most two questions are with one server, twins are one, and the rest wait their turn", async () => {
  let asked = 0;
  let most = 0;
  const open: ServerResponse[] = [];
  const { registration } = await registry((_request, response) => {
    asked += 1;
    most = Math.max(most, open.push(response));
    // Two and two: a client that asked one at a time would wait for ever.
    if (open.length === 2) for (const each of open.splice(0)) each.writeHead(404).end();
  });
  const names = Array.from({ length: 20 }, (_, index) => `n${String(index % 10)}.example`);
  const answers = await Promise.all(names.map((name) => registration(name)));
  assert.deepEqual(new Set(answers.map(short)), new Set(["absent noName"]));
  assert.deepEqual([most, asked], [2, 10]);
});

test("owner B's question is asked before owner A's second, and A's eleventh waiting one is not", async () => {
  const asked: string[] = [];
  const open: ServerResponse[] = [];
  const { registration } = await registry(
    ({ url = "" }, response) => {
      asked.push(url.replace(/.*\//, ""));
      open.push(response);
    },
    { owners: "several" },
  );
  const ofA = Array.from({ length: 12 }, (_, at) => registration(`a${String(at)}.example`, "a"));
  assert.equal(short(await (ofA[11] ?? assert.fail())), "unknown refused");
  await until(() => asked.length === 1);
  const ofB = registration("b.example", "b");
  await until(() => asked.length === 2);
  assert.deepEqual(asked, ["a0.example", "b.example"]);
  const answering = setInterval(
    () => open.splice(0).forEach((each) => each.writeHead(404).end()),
    1,
  );
  await Promise.all([...ofA, ofB]);
  clearInterval(answering);
  assert.equal(asked.length, 12);
});

test("more than fifty waiting for one server are told at once that nobody could say", async () => {
  const { registration } = await registry(() => undefined, { timeoutMs: 300 });
  const names = Array.from({ length: 53 }, (_, index) => `n${String(index)}.example`);
  const pending = names.map((name) => registration(name));
  assert.equal(short(await (pending[52] ?? assert.fail())), "unknown refused");
  const answers = await Promise.all(pending);
  assert.deepEqual(new Set(answers.map(short)), new Set(["unknown timeout", "unknown refused"]));
});

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
