import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { countingIds, recordingLog } from "../../../test/contracts/stores.ts";
import { systemClock as clock } from "../system/clock.ts";
import { clientOf, clientOptions, readRedisUrl } from "./client-options.ts";
import { type ConnectionDeps, RedisConnection } from "./connection.ts";

const wrong = [
  ["another protocol", "http://:hunter2@redis.example"],
  ["no host", "redis://"],
  ["no URL", "redis.example:6379 hunter2"],
  ["a database that is no number", "redis://:hunter2@redis.example/cache"],
  ["a broken escape in the password", "redis://:hunter2%zz@redis.example"],
] as const;

for (const [name, url] of wrong) {
  test(`a URL with ${name} is refused without being shown`, () => {
    assert.throws(
      () => readRedisUrl(url),
      (fault) => fault instanceof Error && !/hunter2|example/.test(String(fault.stack)),
    );
  });
}

const read = [
  ["the port is 6379 unless told", "redis://redis.example", { port: 6_379, db: 0 }],
  ["a database", "redis://redis.example:7000/3", { port: 7_000, db: 3 }],
  ["user and password, decoded", "redis://a%40b:c%2Fd@h", { username: "a@b", password: "c/d" }],
  ["an IPv6 address", "redis://[::1]:1", { host: "::1" }],
  ["TLS, with the name that is asked for", "rediss://h", { tls: { servername: "h" } }],
  ["TLS at an address, which is no name", "rediss://[::1]", { tls: {} }],
] as const;

for (const [name, url, want] of read) {
  test(`of a URL is read: ${name}`, () => {
    const options = clientOptions(readRedisUrl(url), countingIds());
    assert.deepEqual({ ...options, ...want }, options);
  });
}

test("waiting between attempts doubles up to a cap and differs from process to process", () => {
  const at = (byte: number) => {
    const bytes = () => Uint8Array.of(byte);
    return clientOptions(readRedisUrl("redis://h"), { bytes }).retryStrategy;
  };
  assert.deepEqual(
    [1, 2, 3, 99].map((attempt) => at(128)?.(attempt)),
    [50, 100, 200, 2_000],
  );
  assert.deepEqual([at(0)?.(99), at(255)?.(99)], [1_500, 2_496]);
});

/** A server that takes what is sent and answers nothing, or what it is given. */
async function dumbServer(t: TestContext, answer?: string) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => undefined));
    if (answer !== undefined) socket.on("data", () => socket.write(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

function connect(t: TestContext, url: string, log: ConnectionDeps["log"] = recordingLog()): void {
  const client = clientOf(readRedisUrl(url), countingIds());
  const connection = new RedisConnection(client, { clock, log });
  t.after(() => connection.close());
}

test("rediss: speaks TLS from the first octet, to the host by its name", async (t) => {
  const { server, port } = await dumbServer(t);
  // Of any attempt: on a busy machine the first one may be given up before it has said anything.
  const first = new Promise<Buffer>((resolve) => {
    server.on("connection", (socket: Socket) => socket.once("data", resolve));
  });
  connect(t, `rediss://localhost:${String(port)}`);
  const data = await first;
  assert.equal(data[0], 22, "a handshake record (RFC 8446 section 5.1)");
  assert.ok(data.includes("localhost"), "server_name (RFC 6066 section 3)");
});

test("a password that is refused is in no log line", async (t) => {
  const { port } = await dumbServer(t, "-WRONGPASS invalid username-password pair\r\n");
  const said = await new Promise<string>((resolve) => {
    const warn = (event: string, fields: unknown): void => resolve(JSON.stringify([event, fields]));
    connect(t, `redis://ada:hunter2@127.0.0.1:${String(port)}`, { info: () => undefined, warn });
  });
  assert.match(said, /redis\.unavailable.*WRONGPASS/);
  assert.doesNotMatch(said, /hunter2/);
});
