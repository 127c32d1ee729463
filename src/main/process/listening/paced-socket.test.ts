import { strict as assert } from "node:assert";
import { EventEmitter } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import { testServer, type TestServer } from "../../../../test/http/http-server.ts";
import { askRaw, rawClient } from "../../../../test/http/raw-http.ts";
import { RESOURCES } from "../../../base/resources.ts";
import { Share } from "../../../base/shares.ts";
import { PacedSocket } from "./paced-socket.ts";
import { readError, readResult } from "../../../../test/http/strict-client.ts";

const REQUESTS = 3_000;
const CHUNKS = 100_000;
const FORM = "application/x-www-form-urlencoded";

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

const chunked = (type: string, text: string): string =>
  `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n` +
  `${text.replaceAll(/./g, "1\r\n$&\r\n")}0\r\n\r\n`;

let server: TestServer;
before(async () => {
  server = await testServer();
});
after(() => server.stop());

/** A client that pours without reading what it gets one by one. */
function pouring(t: TestContext, text: string): { socket: Socket; answered: () => number } {
  const socket = connect({ port: server.port, host: "127.0.0.1" });
  t.after(() => socket.destroy());
  let got = "";
  let answered = 0;
  socket.setEncoding("latin1").on("data", (part: string) => {
    got += part;
    const heads = got.split("HTTP/1.1 ").length - 1;
    if (heads === 0) return;
    answered += heads;
    got = got.slice(got.lastIndexOf("HTTP/1.1 ") + 9);
  });
  socket.write(text);
  return { socket, answered: () => answered };
}

/** Asks until the condition holds, at most 10,000 times; returns how often. */
async function asksUntil(holds: () => boolean): Promise<number> {
  for (let asked = 1; asked <= 10_000; asked += 1) {
    readResult(await askRaw(server.port, get("/api/email/b@x")), "email");
    if (holds()) return asked;
  }
  throw new Error("it never held");
}

test("thousands of pipelined requests leave others their turns, and all are answered", async (t) => {
  const { answered } = pouring(t, get("/api/email/a@x").repeat(REQUESTS));
  readResult(await askRaw(server.port, get("/api/email/b@x")), "email");
  const early = answered();
  assert.ok(early < REQUESTS / 2, `${String(early)} were answered before the first of another`);
  const asked = await asksUntil(() => answered() === REQUESTS);
  assert.ok(asked > 10, `another had ${String(asked)} turns`);
});

test("a body in chunks of one octet is read whole, and others have their turns meanwhile", async (t) => {
  const text = `email=a%40x&padding=${"a".repeat(CHUNKS)}`;
  const { answered } = pouring(t, chunked(FORM, text));
  const asked = await asksUntil(() => answered() === 1);
  assert.ok(asked > 10, `another had ${String(asked)} turns`);
});

test("many connections that begin to pour at the same moment are read in turns with another's request", async (t) => {
  const text = chunked(FORM, `email=a%40x&padding=${"a".repeat(10_000)}`);
  const several = Array.from({ length: 20 }, () => pouring(t, text.slice(0, 10)));
  const client = rawClient(server.port);
  t.after(() => client.destroy());
  client.write("GET /api/email/b@x HTTP/1.1\r\n");
  await askRaw(server.port, get("/api/email/a@x")); // by now all that was sent before is read
  for (const { socket } of several) socket.write(text.slice(10));
  client.write("Host: a\r\n\r\n");
  readResult(await client.answer(), "email");
  const early = several.filter(({ answered }) => answered() > 0).length;
  assert.ok(early <= 5, `${String(early)} of 20 were read before`);
  await asksUntil(() => several.every(({ answered }) => answered() === 1));
});

test("chunks of a refused body are dropped in turns, too", async (t) => {
  const { answered } = pouring(t, chunked("text/html", "a".repeat(CHUNKS)) + get("/api/email/a@x"));
  const asked = await asksUntil(() => answered() === 2);
  assert.ok(asked > 10, `another had ${String(asked)} turns`);
});

test("requests behind a chunked body are answered in order", async (t) => {
  const client = rawClient(server.port);
  t.after(() => client.destroy());
  client.write(chunked(FORM, "email=1%40x") + get("/api/email/2@x") + get("/api/nothing"));
  assert.deepEqual(readResult(await client.answer(), "email")["mx_info"], ["1@x", "address"]);
  assert.deepEqual(readResult(await client.answer(), "email")["mx_info"], ["2@x", "address"]);
  readError(await client.answer(), 404);
});

test("a connection whose end comes before its turns is closed", async () => {
  const client = rawClient(server.port);
  client.write(get("/api/email/a@x").repeat(REQUESTS));
  client.destroy();
  await client.closed;
  readResult(await askRaw(server.port, get("/api/email/b@x")), "email");
});

/** What a connection is for `PacedSocket`; notes what it would parse. */
function fakeSocket(parsed: string[]): EventEmitter & { destroyed: boolean } {
  const socket = Object.assign(new EventEmitter(), {
    destroyed: false,
    pause: () => undefined,
    resume: () => undefined,
    destroy: () => void (socket.destroyed = true),
  });
  socket.on("data", (octets: Buffer) => void parsed.push(octets.toString()));
  return socket;
}

const OWNER = "bucket:192.0.2.1";

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function pace(share: Share, owner = OWNER) {
  const parsed: string[] = [];
  const socket = fakeSocket(parsed);
  new PacedSocket(socket as unknown as Socket, { share, owner });
  return { socket, parsed };
}

test("a connection whose owner has too many waiting is closed, and the event loop goes on", async () => {
  const share = new Share("reading", { ...RESOURCES.reading, queuePerOwner: 0 });
  const busy = share.take(OWNER, RESOURCES.reading.perOwner);
  const { socket, parsed } = pace(share);
  socket.emit("data", Buffer.from(get("/api/email/a@x")));
  await nextTurn();
  assert.deepEqual([socket.destroyed, parsed.length], [true, 0]);
  assert.ok(share.figures("look").refused.owner <= 1, "it asks once");
  busy.release();
});

test("a connection that is closed while it waits takes no turn", async () => {
  const share = new Share("reading", RESOURCES.reading);
  const busy = share.take(OWNER, RESOURCES.reading.perOwner);
  const [gone, next] = [pace(share), pace(share)];
  for (const { socket } of [gone, next]) socket.emit("data", Buffer.from(get("/api/email/a@x")));
  gone.socket.destroyed = true;
  gone.socket.emit("close");
  busy.release();
  await nextTurn();
  await nextTurn();
  assert.deepEqual([gone.parsed, next.parsed], [[], [get("/api/email/a@x")]]);
});

test("a long head is read in a few pieces, and each request in one of its own", async () => {
  const share = new Share("reading", RESOURCES.reading);
  const { socket, parsed } = pace(share);
  const [long, short] = [get(`/${"a".repeat(60_000)}`), get("/api/email/a@x")];
  socket.emit("data", Buffer.from(long + short + short));
  for (let at = 0; at < 20; at += 1) await nextTurn();
  assert.equal(parsed.join(""), long + short + short);
  assert.deepEqual(parsed.slice(-2), [short, short]);
  assert.equal(parsed.length, 6);
});
