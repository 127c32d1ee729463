import { strict as assert } from "node:assert";
import { EventEmitter, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { type Resource, RESOURCES } from "../../src/base/resources.ts";
import { Share } from "../../src/base/shares.ts";
import { sharedPages } from "../../src/http/app/pages-share.ts";
import type { HttpRequest, HttpResponse } from "../../src/http/answer/route.ts";
import { manualClock } from "../time/manual-clock.ts";
import { until as untilTrue } from "../time/until.ts";

const ROW: Resource = { ...RESOURCES.pages, total: 4, perOwner: 3 };

const ASK = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/** A server whose answers are given by the test. */
async function open(t: TestContext) {
  const share = new Share("pages", ROW);
  const clock = manualClock();
  const asked: ServerResponse[] = [];
  const server = createServer();
  const serve = (_: unknown, response: ServerResponse): void => {
    asked.push(response);
    server.emit("asked");
  };
  server.on("request", sharedPages(serve, { share, trustedProxies: [], clock }));
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const from = (localAddress: string, text: string): Socket => {
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    socket.on("error", () => undefined).write(text);
    return socket;
  };
  const until = async (count: number): Promise<void> => {
    while (asked.length < count) await once(server, "asked");
  };
  return { share, clock, asked, from, until };
}

const used = (share: Share): number => share.figures("look").used;

test("an address over its share of pages is refused until one of its answers is taken", async (t) => {
  const { share, clock, asked, from, until } = await open(t);
  const first = from("127.0.0.1", ASK.repeat(3));
  await until(3);
  const over = from("127.0.0.1", ASK.repeat(2));
  let refused = "";
  over.setEncoding("utf8").on("data", (text: string) => (refused += text));
  await untilTrue(() => refused.includes('"error"'));
  assert.equal(over.closed, false, "its address would open another at once");
  await untilTrue(() => {
    clock.advance(10_000);
    return over.closed;
  });
  assert.match(refused, /^HTTP\/1\.1 429 /);
  assert.match(refused, /\r\nretry-after: 5\r\n/);
  assert.equal(refused.split("HTTP/1.1 ").length, 2, "what stands behind it is not answered");
  asked[0]?.end();
  await once(first, "data");
  from("127.0.0.1", ASK);
  await until(4);
  assert.equal(used(share), 3);
});

test("an address with fewer pages gets the place of the one with the most", async (t) => {
  const { share, from, until } = await open(t);
  const [most, other] = [from("127.0.0.1", ASK.repeat(3)), from("127.0.0.2", ASK)];
  await until(4);
  from("127.0.0.3", ASK);
  await once(most.resume(), "close");
  await until(5);
  assert.equal(other.destroyed, false);
  assert.equal(share.figures().reclaimed, 1);
});

test("a health check waits for no page", async () => {
  const served: string[] = [];
  const share = new Share("pages", RESOURCES.pages);
  const serve = ({ url = "" }: HttpRequest): void => void served.push(url);
  const pages = sharedPages(serve, { share, trustedProxies: [], clock: manualClock() });
  const ask = (url: string): void => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress: "192.0.2.1" });
    const response = Object.assign(new EventEmitter(), { req: { url } });
    pages(
      { url, socket, headers: {} } as unknown as HttpRequest,
      response as unknown as HttpResponse,
    );
  };
  for (const url of ["/a", "/b", "/c", "/healthz", "/readyz", "/healthz?x"]) ask(url);
  assert.deepEqual(served, ["/a", "/b", "/healthz", "/readyz"]);
});

test("a connection that ends gives back the places of all its answers, also of those that wait", async (t) => {
  const { share, asked, from, until } = await open(t);
  const socket = from("127.0.0.1", ASK.repeat(3));
  await until(3);
  const closed = once(asked[0]?.req.socket ?? socket, "close");
  socket.destroy();
  await closed;
  assert.equal(used(share), 0);
});

test("two pages begin in a turn of the event loop, of one address after the other, and 128 of one may wait", async () => {
  const served: string[] = [];
  const serve = ({ socket }: { readonly socket: Pick<Socket, "remoteAddress"> }): void =>
    void served.push(socket.remoteAddress ?? "");
  const row: Resource = { ...RESOURCES.pages, total: 1_000, perOwner: 1_000 };
  const share = new Share("pages", row);
  const pages = sharedPages(serve, { share, trustedProxies: [], clock: manualClock() });
  const statuses: number[] = [];
  const ask = (remoteAddress: string): void => {
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      destroySoon: () => undefined,
    });
    const response = Object.assign(new EventEmitter(), {
      writeHead: (status: number) => ({ end: () => void statuses.push(status) }),
    });
    pages({ socket, headers: {} } as never, response as never);
  };
  for (let n = 0; n < 131; n += 1) ask("192.0.2.1");
  ask("192.0.2.2");
  assert.deepEqual([served.length, statuses], [2, [429]]);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(served.slice(2), ["192.0.2.1", "192.0.2.2"]);
});
