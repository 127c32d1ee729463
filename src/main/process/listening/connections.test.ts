import { strict as assert } from "node:assert";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { test } from "node:test";
import { readTrustedProxies } from "../../../http/request/client-address.ts";
import { createShares } from "../../../base/shares.ts";
import { holdConnection } from "../../../http/answer/held-connections.ts";
import { manualClock } from "../../../../test/time/manual-clock.ts";
import { Connections } from "./connections.ts";

/** A connection that notes whether it was closed and paced. */
class Line extends EventEmitter {
  readonly remoteAddress: string;
  bytesRead = 0;
  isClosed = false;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroySoon(): void {
    this.destroy();
  }

  destroy(): void {
    this.isClosed = true;
    this.emit("close");
  }
}

function world(total: number, perOwner: number, proxies = "") {
  const clock = manualClock();
  const shares = createShares(undefined, { connections: { total, perOwner } });
  const trustedProxies = readTrustedProxies(proxies);
  const connections = new Connections({
    share: shares.of("connections"),
    reading: shares.of("reading"),
    trustedProxies,
    clock,
  });
  const open = (address: string) => {
    const line = new Line(address);
    const refusal = connections.admit(line as unknown as Socket);
    const answer = (response: object): boolean =>
      connections.used(line as unknown as Socket, response as ServerResponse) !== undefined;
    const use = (writableFinished: boolean): boolean =>
      answer({ writableFinished, req: { headers: {}, complete: true } });
    const begun = (): void => connections.begun(line as unknown as Socket);
    const hold = (): void => holdConnection(line as unknown as Socket, { clock, trustedProxies });
    return { line, status: refusal?.status, use, answer, begun, hold };
  };
  return { open, clock, boundHeads: () => connections.boundHeads() };
}

test("an address over its share loses its longest idle connection, others lose none", () => {
  const { open } = world(10, 2);
  const other = open("192.0.2.2");
  const [first, second] = [open("192.0.2.1"), open("192.0.2.1")];
  first.use(true);
  assert.equal(open("192.0.2.1").status, undefined);
  assert.deepEqual([first.line.isClosed, second.line.isClosed], [false, true]);
  assert.equal(other.line.isClosed, false);
});

test("an address whose connections are all busy is refused with 429", () => {
  const { open } = world(10, 1);
  open("192.0.2.1").use(false);
  assert.equal(open("192.0.2.1").status, 429);
  assert.equal(open("192.0.2.2").status, undefined);
});

test("addresses of one IPv6 /64 are one owner", () => {
  const { open } = world(10, 1);
  open("2001:db8::1").use(false);
  assert.equal(open("2001:db8::2").status, 429);
  assert.equal(open("2001:db8:0:1::1").status, undefined);
});

test("with all connections open the longest idle of all makes room, and 503 comes when none is idle", () => {
  const { open } = world(2, 2);
  const [first, second] = [open("192.0.2.1"), open("192.0.2.2")];
  first.use(false);
  assert.equal(open("192.0.2.3").status, undefined);
  assert.deepEqual([first.line.isClosed, second.line.isClosed], [false, true]);
  const busy = world(1, 1);
  busy.open("192.0.2.1").use(false);
  assert.equal(busy.open("192.0.2.2").status, 503);
});

test("with none idle, an address with less than an equal part takes from the one that has most", () => {
  const { open } = world(12, 8);
  const busy = (address: string, count: number) =>
    Array.from({ length: count }, () => {
      const { line, use } = open(address);
      use(false);
      return line;
    });
  const closed = (lines: readonly Line[]): number => lines.filter((one) => one.isClosed).length;
  const [most, others] = [busy("192.0.2.1", 8), busy("192.0.2.2", 4)];
  const fresh = [1, 2, 3, 4].map(() => {
    const { status, use } = open("192.0.2.3");
    use(false);
    return status;
  });
  assert.deepEqual(fresh, [undefined, undefined, undefined, undefined]);
  assert.equal(open("192.0.2.3").status, 503, "it has an equal part");
  assert.deepEqual([closed(most), closed(others)], [4, 0]);
  assert.deepEqual(
    most.findIndex((one) => !one.isClosed),
    4,
    "the longest unused are closed",
  );
});

test("looking for the longest idle ends after 1,024 busy ones, and goes on behind them", () => {
  const { open } = world(3_000, 100);
  let looks = 0;
  const busy = {
    req: { headers: {} },
    get writableFinished(): boolean {
      looks += 1;
      return false;
    },
  };
  for (let n = 0; n < 2_999; n += 1) open(`10.0.${String(n >> 8)}.${String(n & 255)}`).answer(busy);
  const idle = open("192.0.2.2");
  const statuses = [1, 2, 3].map(() => {
    looks = 0;
    const { status } = open("198.51.100.1");
    assert.ok(looks <= 1_024, String(looks));
    return status;
  });
  assert.deepEqual(statuses, [503, 503, undefined]);
  assert.equal(idle.line.isClosed, true);
});

test("unfinished heads beyond 16 MiB are closed where there are most of them", () => {
  const { open, boundHeads } = world(1_000, 1_000);
  const come = (address: string, bytesRead: number) => {
    const { line, use } = open(address);
    line.bytesRead = bytesRead;
    return { line, use };
  };
  const many = Array.from({ length: 600 }, () => come("192.0.2.1", 60_000));
  const [few, short] = [come("192.0.2.2", 60_000), come("192.0.2.1", 4_096)];
  const finished = come("192.0.2.1", 60_000);
  finished.use(true);
  boundHeads();
  assert.equal(many.filter(({ line }) => !line.isClosed).length, 139); // of an equal part of 8 MiB
  assert.deepEqual(
    [few, short, finished].map(({ line }) => line.isClosed),
    [false, false, false],
  );
  boundHeads();
  assert.equal(many.filter(({ line }) => !line.isClosed).length, 139);
});

test("a body that was answered is no unfinished head", () => {
  const { open, boundHeads } = world(1_000, 1_000);
  const lines = Array.from({ length: 600 }, () => {
    const { line, answer } = open("192.0.2.1");
    const req = { headers: { "content-length": "2000000" }, complete: true };
    const response = Object.assign(new EventEmitter(), { writableFinished: true, req });
    answer(response);
    line.bytesRead = 2_000_100;
    response.emit("close");
    return line;
  });
  boundHeads();
  assert.equal(lines.filter(({ isClosed }) => isClosed).length, 0);
});

test("a connection that was refused for want of room keeps its place for 10 s, unless another address needs it", () => {
  const { open, clock } = world(2, 1);
  const held = open("192.0.2.1");
  held.use(true);
  held.hold();
  held.line.destroySoon();
  assert.equal(open("192.0.2.1").status, 429);
  clock.advance(9_999);
  assert.equal(held.line.isClosed, false);
  clock.advance(1);
  assert.equal(held.line.isClosed, true);
  const again = open("192.0.2.1");
  again.use(true);
  again.hold();
  again.line.destroySoon();
  open("192.0.2.2").use(false);
  assert.equal(open("192.0.2.3").status, undefined);
  assert.equal(again.line.isClosed, true);
  clock.advance(10_000);
});

test("a trusted proxy's connection is closed at once", () => {
  const { open } = world(10, 1, "192.0.2.9");
  const { line, hold } = open("192.0.2.9");
  hold();
  line.destroySoon();
  assert.equal(line.isClosed, true);
});

test("a trusted proxy has no share of its own", () => {
  const { open } = world(10, 1, "192.0.2.9");
  for (let n = 0; n < 5; n += 1) {
    const { status, use } = open("192.0.2.9");
    use(false);
    assert.equal(status, undefined);
  }
});

test("while one pipelines, all connections are paced, and new ones until ten seconds later", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { open } = world(10, 5);
  const [one, another, waiting] = [open("192.0.2.1"), open("192.0.2.2"), open("192.0.2.3")];
  one.begun();
  another.begun();
  assert.deepEqual([one.use(false), another.use(true)], [false, false]);
  assert.equal(one.use(false), true);
  assert.equal(another.use(true), true);
  waiting.begun();
  assert.equal(waiting.use(true), true);
  t.mock.timers.tick(10_000);
  const late = open("192.0.2.4");
  late.begun();
  assert.equal(late.use(true), false);
  assert.equal(another.use(true), true, "for as long as it is open");
});
