import { strict as assert } from "node:assert";
import type { RequestListener } from "node:http";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { httpPeer, tcpPeer } from "../../../test/http/peer.ts";
import { until } from "../../../test/time/until.ts";
import {
  DAY_MS,
  kept,
  scratch,
  world,
  file,
  serve,
  registry,
  domainObject,
  short,
} from "../../../test/rdap/registry-world.ts";

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
