import { strict as assert } from "node:assert";
import { Socket } from "node:net";
import { createServer as createTls } from "node:tls";
import { after, test } from "node:test";
import type { Answer } from "../core/mail/lookup.ts";
import type { HttpQuestion, OutboundResult } from "./outbound-types.ts";
import { receiverCertificate, receiverKey } from "../../test/process/certificates.ts";
import { httpPeer, listening, type Peer, tcpPeer } from "../../test/http/peer.ts";
import { realClock } from "../../test/time/real-clock.ts";
import { createOutbound, type OutboundDeps } from "./outbound.ts";
import { AddressRanges } from "./public-address.ts";
import { HOSTILE_PEERS } from "../../test/http/hostile-peers.ts";

const allowed = new AddressRanges(["127.0.0.0/8"]);

const names = (zone: Readonly<Record<string, readonly string[]>>) => {
  return (host: string): Answer<string> => {
    const records = zone[host];
    return records === undefined
      ? { kind: "absent", why: "noName" }
      : { kind: "found", records: [...records] };
  };
};

const world = (more: Partial<OutboundDeps> = {}) =>
  createOutbound({
    addresses: names({ "peer.example": ["127.0.0.1"] }),
    clock: realClock,
    allowed,
    ...more,
  });

const get = (url: string, more: Partial<HttpQuestion> = {}): HttpQuestion => ({
  url,
  method: "GET",
  headers: {},
  timeoutMs: 60_000,
  maxBodyBytes: 1_000,
  maxRedirects: 0,
  ...more,
});

const peers: Peer[] = [];
const kept = async (peer: Promise<Peer>): Promise<Peer> => {
  peers.push(await peer);
  return peer;
};
after(() => Promise.all(peers.map((peer) => peer.close())));

const faultOf = (result: OutboundResult<unknown>) => (result.ok ? "none" : result.fault);

test("a name is resolved by the given function and the host header carries it", async () => {
  const seen: unknown[] = [];
  const peer = await kept(
    httpPeer((request, response) => {
      seen.push(request.url, request.headers, request.rawHeaders);
      response.end("hello");
    }),
  );
  const url = `http://Peer.Example.:${String(peer.port)}/a/b?c=d`;
  const result = await world().http(get(url, { headers: { Accept: "x/y" } }));
  assert.ok(result.ok);
  assert.equal(Buffer.from(result.value.body).toString(), "hello");
  assert.deepEqual([result.value.status, result.value.cut], [200, false]);
  const host = `peer.example.:${String(peer.port)}`;
  assert.deepEqual(seen[0], "/a/b?c=d");
  assert.deepEqual(seen[2], ["Host", host, "Connection", "close", "Accept", "x/y"]);
});

test("a body is sent whole, with its length", async () => {
  let got = "";
  const peer = await kept(
    httpPeer((request, response) => {
      request.on("data", (chunk: Buffer) => (got += chunk.toString()));
      request.on("end", () => response.writeHead(204).end());
    }),
  );
  const body = Buffer.from("é".repeat(40_000));
  const result = await world().http(get(peer.url, { method: "POST", body }));
  assert.ok(result.ok);
  assert.equal(result.value.status, 204);
  assert.equal(got, body.toString());
});

for (const [name, behave, want] of HOSTILE_PEERS) {
  test(`a peer that ${name} gives "${want}" within the total time`, async () => {
    const peer = await kept(tcpPeer(behave));
    const timeoutMs = want === "timeout" ? 300 : 60_000;
    assert.equal(faultOf(await world().http(get(peer.url, { timeoutMs }))), want);
  });
}

test("an answer that began and was not finished keeps its status", async () => {
  const peer = await kept(
    tcpPeer((socket) => socket.end("HTTP/1.1 202 OK\r\ncontent-length: 9\r\n\r\nabc")),
  );
  const result = await world().http(get(peer.url));
  assert.deepEqual([result.ok, !result.ok && result.status], [false, 202]);
});

test("a body beyond the limit is cut and the connection is closed", async () => {
  let written = 0;
  let closed = (): void => undefined;
  const gone = new Promise<void>((resolve) => (closed = resolve));
  const peer = await kept(
    tcpPeer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const piece = Buffer.alloc(16_384, "x");
      const more = () => {
        while (written < 50_000_000 && socket.write(piece)) written += piece.length;
      };
      socket.on("drain", more);
      socket.on("close", closed);
      more();
    }),
  );
  const result = await world().http(get(peer.url, { maxBodyBytes: 65_536 }));
  assert.ok(result.ok);
  assert.deepEqual([result.value.body.length, result.value.cut], [65_536, true]);
  await gone;
  assert.ok(written < 50_000_000);
});

test("a body of exactly the limit is not cut", async () => {
  const peer = await kept(httpPeer((_request, response) => response.end("x".repeat(1_000))));
  const result = await world().http(get(peer.url));
  assert.ok(result.ok);
  assert.deepEqual([result.value.body.length, result.value.cut], [1_000, false]);
});

const urls = [
  ["another scheme", "ftp://peer.example/", "bad_url"],
  ["a file", "file:///etc/passwd", "bad_url"],
  ["no url", "peer.example", "bad_url"],
  ["a user name", "http://a@peer.example/", "bad_url"],
  ["a password", "http://:b@peer.example/", "bad_url"],
  ["a name without address", "http://nobody.example/", "no_address"],
  ["a private literal", "http://10.0.0.1/", "not_public"],
  ["a short literal", "http://192.168.1/", "not_public"],
  ["a hexadecimal literal", "http://0xa.0.0.1/", "not_public"],
  ["a mapped literal", "http://[::ffff:127.0.0.1]/", "not_public"],
  ["a name with one private address among public ones", "http://mixed.example/", "not_public"],
] as const;

for (const [name, url, want] of urls) {
  test(`nothing is dialled for ${name}`, async () => {
    const dialled: string[] = [];
    const outbound = world({
      addresses: names({ "mixed.example": ["8.8.8.8", "10.0.0.1"] }),
      connect: (address) => {
        dialled.push(address);
        return new Socket().destroy();
      },
    });
    assert.equal(faultOf(await outbound.http(get(url))), want);
    assert.deepEqual(dialled, []);
  });
}

test("a name nobody could resolve is unresolved, and DNS that never answers ends with the time", async () => {
  const unknown = world({ addresses: () => ({ kind: "unknown", why: "servfail" }) });
  assert.equal(faultOf(await unknown.http(get("http://x.example/"))), "unresolved");
  const silent = world({ addresses: () => new Promise(() => undefined) });
  const result = await silent.http(get("http://x.example/", { timeoutMs: 20 }));
  assert.equal(faultOf(result), "timeout");
});

test("the next address is tried when one does not accept, at most four", async () => {
  const dialled: string[] = [];
  const records = ["8.8.8.1", "8.8.8.2", "8.8.8.3", "8.8.8.4", "8.8.8.5"];
  const outbound = world({
    addresses: names({ "x.example": records }),
    connect: (address) => {
      dialled.push(address);
      return new Socket().destroy(Object.assign(new Error("no"), { code: "ECONNREFUSED" }));
    },
  });
  const result = await outbound.http(get("http://x.example/"));
  assert.deepEqual(result, { ok: false, fault: "unreachable", detail: "ECONNREFUSED" });
  assert.deepEqual(dialled, records.slice(0, 4));
});

test("a certificate nobody vouches for ends the handshake, and no request is sent", async () => {
  let requests = 0;
  const server = createTls({ key: receiverKey, cert: receiverCertificate }, (socket) => {
    socket.on("data", () => (requests += 1));
  });
  const peer = await kept(listening(server));
  const result = await world().http(get(`https://localhost:${String(peer.port)}/`));
  assert.deepEqual([faultOf(result), requests], ["tls", 0]);
});

test("a peer that never finishes its handshake ends with the time", async () => {
  const peer = await kept(tcpPeer(() => undefined));
  const url = `https://127.0.0.1:${String(peer.port)}/`;
  assert.equal(faultOf(await world().http(get(url, { timeoutMs: 100 }))), "timeout");
});

test("a peer that speaks plain text on a TLS port is a TLS failure", async () => {
  const peer = await kept(tcpPeer((socket) => socket.end("220 hello\r\n")));
  const url = `https://127.0.0.1:${String(peer.port)}/`;
  assert.equal(faultOf(await world().http(get(url))), "tls");
});

test("redirects are answers unless asked for", async () => {
  const peer = await kept(
    httpPeer((_request, response) => response.writeHead(302, { location: "/b" }).end()),
  );
  const result = await world().http(get(peer.url));
  assert.ok(result.ok);
  assert.equal(result.value.status, 302);
});

test("the allowed peer may not send us to another address that is not public, itself included", async () => {
  const peer = await kept(
    httpPeer((_request, response) => response.writeHead(301, { location: "/b" }).end()),
  );
  const result = await world().http(get(peer.url, { maxRedirects: 3 }));
  const refused = { ok: false, fault: "not_public", detail: "127.0.0.1", isRedirected: true };
  assert.deepEqual(result, refused);
  assert.equal(peer.connections(), 1);
});

test("a redirect is not followed when nobody waits any more", async () => {
  const peer = await kept(
    httpPeer((_request, response) => response.writeHead(302, { location: "/b" }).end()),
  );
  const question = get(peer.url, { maxRedirects: 3, until: { isPast: true } });
  assert.equal(faultOf(await world().http(question)), "timeout");
  assert.equal(peer.connections(), 1);
});

test("a redirect to another scheme or to nonsense is refused", async () => {
  for (const location of ["ftp://peer.example/", "http://", "https://a:b@peer.example/"]) {
    const peer = await kept(
      httpPeer((_request, response) => response.writeHead(307, { location }).end()),
    );
    assert.equal(faultOf(await world().http(get(peer.url, { maxRedirects: 3 }))), "redirect");
  }
});
