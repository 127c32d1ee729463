import { strict as assert } from "node:assert";
import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Rush } from "./rush.ts";
import { welcomeInTurns } from "./welcome.ts";

/** A connection as Node's server sees it; `writableEnded` once an answer has ended it. */
class Line extends EventEmitter {
  readonly remoteAddress: string;
  destroyed = false;
  writableEnded = false;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  resume(): void {
    this.emit("resume");
  }
}

/** A server that gives each connection its listener for the end, as Node's does, and notes whom it saw. */
function world(refused = "") {
  const server = new EventEmitter();
  const [begun, ended]: [Line[], Line[]] = [[], []];
  server.on("connection", (line: Line) => line.on("end", () => ended.push(line)));
  welcomeInTurns(server as Server, {
    admit: ({ remoteAddress }) => remoteAddress !== refused,
    begun: (socket) => void begun.push(socket as unknown as Line),
    rush: new Rush(),
  });
  const come = (count: number, address: string): readonly Line[] =>
    Array.from({ length: count }, () => {
      const line = new Line(address);
      server.emit("connection", line);
      return line;
    });
  return { come, begun, ended };
}

test("connections that come at once begin in turns, address after address", async () => {
  const { come, begun } = world();
  come(20, "192.0.2.1");
  const [other] = come(1, "192.0.2.2");
  assert.equal(begun.length, 8);
  await nextTurn();
  assert.equal(begun.length, 16);
  assert.equal(begun[9], other);
  await nextTurn();
  assert.equal(begun.length, 21);
});

test("one that made room for another while it waited does not begin, nor does a refused one", async () => {
  const { come, begun } = world("192.0.2.9");
  come(1, "192.0.2.9");
  const lines = come(9, "192.0.2.1");
  Object.assign(lines.at(-1) ?? {}, { destroyed: true });
  await nextTurn();
  await nextTurn();
  assert.equal(begun.length, 8);
});

test("connections that end at once are closed in turns, address after address", async () => {
  const { come, ended } = world();
  const lines = come(40, "192.0.2.1");
  const [other] = come(1, "192.0.2.2");
  for (let turns = 0; turns < 6; turns += 1) await nextTurn();
  for (const line of [...lines, other]) line?.emit("end");
  assert.equal(ended.length, 16);
  await nextTurn();
  assert.equal(ended.length, 32);
  assert.equal(ended[17], other);
  await nextTurn();
  assert.equal(ended.length, 41);
});

test("nothing is done at the end of a connection that an answer ended, or that is gone", () => {
  const { come, ended } = world();
  const [answered, gone, open] = come(3, "192.0.2.1");
  Object.assign(answered ?? {}, { writableEnded: true });
  Object.assign(gone ?? {}, { destroyed: true });
  for (const line of [answered, gone, open]) line?.emit("end");
  assert.deepEqual(ended, [open]);
});
