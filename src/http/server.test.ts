import { strict as assert } from "node:assert";
import { once } from "node:events";
import { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import { appWith, echoingCheck } from "../../test/http/http-app.ts";
import { testServer, type TestServer } from "../../test/http/http-server.ts";
import { askRaw, type RawClient, rawClient } from "../../test/http/raw-http.ts";
import { createShares } from "../base/shares.ts";
import { readError, readResult } from "../../test/http/strict-client.ts";
import { until } from "../../test/time/until.ts";
import type { CheckOne } from "../check/check-one.ts";
import type { Route } from "./route.ts";
import { DEFAULT_LIMITS, listen, type ListenLimits } from "./server.ts";

const FORM = "application/x-www-form-urlencoded";
const posted = (form: string): string =>
  `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: ${String(form.length)}\r\n\r\n${form}`;
const GOOD = "GET /api/email/a@x.example HTTP/1.1\r\nHost: a\r\n\r\n";

async function start(
  t: TestContext,
  limits: Partial<ListenLimits>,
  checkOne: CheckOne = echoingCheck,
): Promise<TestServer> {
  const server = await testServer({ checkOne }, limits);
  t.after(() => server.stop());
  return server;
}

function connected(t: TestContext, { port }: TestServer): RawClient {
  const client = rawClient(port);
  t.after(() => client.destroy());
  return client;
}

const IMPATIENT = { headersTimeoutMs: 100, requestTimeoutMs: 200, checkIntervalMs: 20 };

const slow = [
  ["headers that never end", "GET /api/email/a@x HTTP/1.1\r\nHost:"],
  ["a request line that never ends", "GET /api/em"],
  [
    "a body that never ends",
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: 100\r\n\r\nemail=`,
  ],
  [
    "chunks that never end",
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n`,
  ],
] as const;

for (const [name, bytes] of slow) {
  test(`${name} are cut with a 408`, async (t) => {
    const client = connected(t, await start(t, IMPATIENT));
    client.write(bytes);
    assert.equal(readError(await client.answer(), 408), "Request timed out.");
    await client.closed;
  });
}

test("a connection that never says anything is cut", async (t) => {
  const client = connected(t, await start(t, IMPATIENT));
  await client.closed;
});

test("a refused body that never ends is cut without a second answer", async (t) => {
  const client = connected(t, await start(t, { ...IMPATIENT, requestTimeoutMs: 500 }));
  client.write(
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nx`,
  );
  readError(await client.answer(), 415);
  await client.closed;
  await assert.rejects(client.answer(), /closed after ""/);
});

test("an idle connection is closed after its time", async (t) => {
  const client = connected(t, await start(t, { keepAliveTimeoutMs: 20 }));
  client.write(GOOD);
  readResult(await client.answer(), "email");
  await client.closed;
});

const [yes, no] = [() => true, () => false];

/** A check that waits until the test lets it go. */
function heldCheck(): {
  readonly checkOne: CheckOne;
  readonly begun: Promise<void>;
  release: () => void;
} {
  let release = (): void => undefined;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const held = new Promise<void>((resolve) => (release = resolve));
  return {
    begun,
    release: () => release(),
    checkOne: async (admitted, request) => {
      begin();
      await held;
      return echoingCheck(admitted, request);
    },
  };
}

test("stopping lets a request under way finish and then closes its connection", async (t) => {
  const { checkOne, begun, release } = heldCheck();
  const server = await start(t, {}, checkOne);
  const client = connected(t, server);
  client.write(GOOD);
  await begun;
  const stopped = server.stop();
  await assert.rejects(askRaw(server.port, GOOD));
  release();
  const answer = await client.answer();
  readResult(answer, "email");
  await client.closed;
  await stopped;
});

test("stopping keeps connections while it takes new ones, and then says that they end", async (t) => {
  const server = await start(t, { farewellMs: 2_000 });
  const [first, second] = [connected(t, server), connected(t, server)];
  const askedOf = async (client: typeof first): Promise<unknown> => {
    client.write(GOOD);
    return (await client.answer()).headers["connection"];
  };
  assert.equal(await askedOf(first), "keep-alive");
  const stopped = server.stop();
  for (const client of [first, second, connected(t, server)]) {
    assert.equal(await askedOf(client), "keep-alive");
  }
  await until(() => askRaw(server.port, GOOD).then(no, yes));
  for (const client of [first, second]) {
    assert.equal(await askedOf(client), "close");
    await client.closed;
  }
  await stopped;
});

test("stopping does not wait when nobody is connected", async (t) => {
  const server = await start(t, { farewellMs: 60_000 });
  await server.stop();
});

test("stopping closes idle connections at once", async (t) => {
  const server = await start(t, {});
  const client = connected(t, server);
  client.write(GOOD);
  readResult(await client.answer(), "email");
  await server.stop();
  await client.closed;
});

test("stopping cuts what is not done in time", async (t) => {
  const { checkOne, begun } = heldCheck();
  const server = await start(t, { stopTimeoutMs: 50 }, checkOne);
  const client = connected(t, server);
  client.write(GOOD);
  await begun;
  await server.stop();
  await client.closed;
});

test("garbage behind a request that waits is answered in its turn", async (t) => {
  const { checkOne, begun, release } = heldCheck();
  const client = connected(t, await start(t, {}, checkOne));
  client.write(`${GOOD}garbage\r\n\r\n`);
  await begun;
  release();
  readResult(await client.answer(), "email");
  readError(await client.answer(), 400);
});

test("a broken body behind a request that waits cuts the line", async (t) => {
  const { checkOne, begun, release } = heldCheck();
  const client = connected(t, await start(t, {}, checkOne));
  const broken = `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`;
  client.write(GOOD + broken);
  await begun;
  await client.closed;
  release();
});

/** `/api/stream` answers with this body. */
const streamRoute = (body: Readable): Route => ({
  family: "stream",
  methods: ["GET"],
  body: "params",
  parameters: new Set(),
  charges: "nothing",
  handle: () => ({ type: "text/event-stream", body }),
});

const ASK_STREAM = "GET /api/stream HTTP/1.1\r\nHost: a\r\n\r\n";

test("a stream ends when its client goes away", async (t) => {
  const body = new Readable({ read: () => undefined });
  const gone = once(body, "close");
  const server = await testServer({ routes: [streamRoute(body)] });
  t.after(() => server.stop());
  const client = connected(t, server);
  client.write(ASK_STREAM);
  body.push("data: 1\n\n");
  assert.equal((await client.answer()).status, 200);
  client.destroy();
  await gone;
});

test("where nobody can listen is said in words", async (t) => {
  const { port } = await start(t, {});
  const at = (host: string, taken: number): Promise<unknown> =>
    listen(appWith(), { host, port: taken }, { limits: DEFAULT_LIMITS });
  await assert.rejects(at("127.0.0.1", port), {
    message: `cannot listen at 127.0.0.1, port ${String(port)}: another program listens there; stop it, or set PORT to a free port`,
  });
  await assert.rejects(at("192.0.2.1", 0), {
    message: "cannot listen at 192.0.2.1, port 0: this machine has no such address",
  });
});

test("a client that takes nothing of its answer is cut", async (t) => {
  const chunk = Buffer.alloc(65_536, 97);
  const body = new Readable({ read: () => void body.push(chunk) });
  const gone = once(body, "close");
  const server = await testServer({ routes: [streamRoute(body)] }, { stallTimeoutMs: 200 });
  t.after(() => server.stop());
  const client = connected(t, server);
  client.pause();
  client.write(ASK_STREAM);
  await gone;
});

test("a quiet stream with nothing waiting is not cut", async (t) => {
  const body = new Readable({ read: () => undefined });
  const server = await testServer({ routes: [streamRoute(body)] }, { stallTimeoutMs: 20 });
  t.after(() => server.stop());
  const client = connected(t, server);
  client.write(ASK_STREAM);
  body.push("data: 1\n\n");
  await client.answer();
  await new Promise((resolve) => setTimeout(resolve, 100)); // five sweeps
  assert.equal(body.destroyed, false);
  client.destroy();
});

const hosts = [
  ["HTTP/1.1 without Host", "GET /api/email/a@x HTTP/1.1\r\n\r\n", 400],
  ["HTTP/1.1 with two", "GET /api/email/a@x HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400],
] as const;

for (const [name, request, status] of hosts) {
  test(`refused with JSON: ${name}`, async (t) => {
    const client = connected(t, await start(t, {}));
    client.write(request);
    readError(await client.answer(), status);
  });
}

test("HTTP/1.0 needs no Host", async (t) => {
  const client = connected(t, await start(t, {}));
  client.write("GET /api/email/a@x HTTP/1.0\r\n\r\n");
  readResult(await client.answer(), "email");
});

const ADDRESSES = ["127.0.0.1", "127.0.0.2", "127.0.0.3"] as const;

/** A server with few connections, and a way to connect from an address of this machine. */
async function crowded(t: TestContext, total: number, perOwner: number) {
  const held = heldCheck();
  const share = createShares(undefined, { connections: { total, perOwner } }).of("connections");
  const server = await testServer({ checkOne: held.checkOne }, {}, share);
  t.after(() => {
    held.release();
    return server.stop();
  });
  /** `busy`: with a request under way. */
  const from = async (address: string, how: "idle" | "busy"): Promise<RawClient> => {
    const client = rawClient(server.port, address);
    t.after(() => client.destroy());
    client.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    const { status } = await client.answer();
    if (status === 200 && how === "busy") client.write(GOOD);
    if (status === 200) return client;
    throw new Error(String(status));
  };
  return { from };
}

test("an address over its share loses its longest idle connection", async (t) => {
  const { from } = await crowded(t, 10, 2);
  const [other] = [await from(ADDRESSES[1], "idle"), await from(ADDRESSES[1], "idle")];
  const first = await from(ADDRESSES[0], "idle");
  await from(ADDRESSES[0], "idle");
  await from(ADDRESSES[0], "idle");
  await first.closed;
  other.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  assert.equal((await other.answer()).status, 200);
});

test("an address whose connections are all busy is refused with 429", async (t) => {
  const { from } = await crowded(t, 10, 1);
  await from(ADDRESSES[0], "busy");
  await assert.rejects(from(ADDRESSES[0], "idle"), { message: "429" });
  await from(ADDRESSES[1], "idle");
});

test("the longest idle of all makes room, then the address with most, and 503 comes at last", async (t) => {
  const { from } = await crowded(t, 3, 3);
  const idle = await from(ADDRESSES[0], "idle");
  const busy = await from(ADDRESSES[0], "busy");
  await from(ADDRESSES[0], "busy");
  await from(ADDRESSES[1], "busy");
  await idle.closed;
  await assert.rejects(from(ADDRESSES[1], "busy"), { message: "503" });
  await from(ADDRESSES[2], "busy");
  await busy.closed;
});

test("who sends 40 MB before reading sees why they are refused, and the connection goes on", async (t) => {
  const client = connected(t, await start(t, {}));
  client.write(
    `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nContent-Length: 40000000\r\n\r\n`,
  );
  client.pause();
  for (let sent = 0; sent < 40; sent += 1) client.write(Buffer.alloc(1_000_000, "a"));
  client.write(GOOD);
  client.resume();
  readError(await client.answer(), 413);
  readResult(await client.answer(), "email");
});

test(
  "who sends chunks of one octet without end is refused and cut",
  { timeout: 120_000 },
  async (t) => {
    const client = connected(t, await start(t, {}));
    client.write(
      `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const crumbs = "1\r\na\r\n".repeat(500);
    let isClosed = false;
    void client.closed.then(() => (isClosed = true));
    for (let sent = 0; sent < 40 && !isClosed; sent += 1) {
      client.write(crumbs);
      await new Promise((resolve) => setImmediate(resolve));
    }
    readError(await client.answer(), 413);
    await client.closed;
  },
);

test("of a connection 16 requests are served at once, the others in their turn, and it is not read on", async (t) => {
  const { checkOne, release } = heldCheck();
  let [served, underWay, most] = [0, 0, 0];
  const counting: CheckOne = async (...asked) => {
    served += 1;
    underWay += 1;
    most = Math.max(most, underWay);
    const answer = await checkOne(...asked);
    underWay -= 1;
    return answer;
  };
  const server = await start(t, {}, counting);
  const [pushy, other] = [connected(t, server), connected(t, server)];
  pushy.write(posted("email=first%40x") + GOOD.repeat(3_000) + posted("email=last%40x"));
  other.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  assert.equal((await other.answer()).status, 200);
  assert.equal(served, 16);
  release();
  for (let count = 0; count < 3_001; count += 1) readResult(await pushy.answer(), "email");
  assert.match((await pushy.answer()).body, /last@x/);
  assert.equal(most, 16);
});

test("a body in thousands of chunks of one octet is refused", async (t) => {
  const client = connected(t, await start(t, {}));
  const head = `POST /api/email HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  client.write(`${head}${"1\r\na\r\n".repeat(1_100)}0\r\n\r\n`);
  readError(await client.answer(), 413);
});
