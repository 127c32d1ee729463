import { strict as assert } from "node:assert";
import type { Buffer } from "node:buffer";
import { test } from "node:test";
import { manualClock } from "../../test/time/manual-clock.ts";
import { LogLines } from "./pino-log.ts";

const RETRY_MS = 100;
const MANY = 5 * 1_048_576;

/** A reader of so many octets, until it is told otherwise; it takes what it is given when `turn` is called. */
function givenReader(room: number) {
  const clock = manualClock();
  const state = { room, fault: "EAGAIN", taken: "", pauses: 0 };
  const queue: (() => void)[] = [];
  const take = (bytes: Buffer): number => {
    const part = bytes.subarray(0, state.room);
    if (part.length === 0) throw Object.assign(new Error("no room"), { code: state.fault });
    state.room -= part.length;
    state.taken += part.toString();
    return part.length;
  };
  const lines = new LogLines(
    {
      write(bytes, done) {
        queue.push(() => {
          try {
            done(null, take(bytes));
          } catch (fault) {
            done(fault as Error, 0);
          }
        });
      },
      writeNow: take,
      pause() {
        state.pauses += 1;
        clock.advance(10);
      },
    },
    clock,
  );
  /** Whatever is under way comes to its end, and what follows from it. */
  const turn = (): void => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) next();
  };
  return { lines, state, turn, clock };
}

test("lines come out in order, those together that were written together", () => {
  const { lines, state, turn } = givenReader(MANY);
  for (const line of ["a\n", "b\n", "c\n"]) lines.write(line);
  turn();
  assert.equal(state.taken, "a\nb\nc\n");
});

test("a reader that takes a few octets at a time gets every line whole", () => {
  const { lines, state, turn, clock } = givenReader(0);
  lines.write("first line\n");
  lines.write("second line\n");
  for (let step = 0; step < 23; step += 1) {
    state.room = 1;
    turn();
    clock.advance(RETRY_MS);
  }
  assert.equal(state.taken, "first line\nsecond line\n");
});

for (const fault of ["EAGAIN", "ENOSPC", "EPIPE", "EIO"]) {
  test(`after ${fault} the same octets are tried again, and nothing is thrown`, () => {
    const { lines, state, turn, clock } = givenReader(3);
    state.fault = fault;
    lines.write("abcdef\n");
    turn();
    clock.advance(RETRY_MS);
    turn();
    assert.equal(state.taken, "abc");
    state.room = MANY;
    clock.advance(RETRY_MS);
    turn();
    assert.equal(state.taken, "abcdef\n");
  });
}

test("a reader that stands still costs 4 MB and lines, which are counted when it takes some again", () => {
  const { lines, state, turn, clock } = givenReader(0);
  lines.write("first\n");
  turn();
  const line = `${"x".repeat(1_048_575)}\n`;
  for (let count = 0; count < 6; count += 1) lines.write(line);
  state.room = 2 * MANY;
  clock.advance(RETRY_MS);
  turn();
  const written = state.taken.split("\n");
  assert.equal(written.length, 7, "the first, four, how many were lost after them, and the end");
  const { level, time, lines: lost, msg } = JSON.parse(written[5] ?? "");
  assert.deepEqual(
    [level, time, lost, msg],
    ["warn", "2026-11-20T12:00:00.100Z", 2, "log.lines_lost"],
  );
  lines.write("again\n");
  turn();
  assert.match(state.taken, /\nagain\n$/, "and it goes on");
});

test("at the end what waits is written at once", () => {
  const { lines, state, turn, clock } = givenReader(0);
  lines.write("a\n");
  turn();
  lines.write("b\n");
  state.room = MANY;
  lines.writeLastWords();
  assert.equal(state.taken, "a\nb\n");
  assert.equal(clock.monotonicMs(), 0);
});

test("at the end what the system has in its hands is not written twice", () => {
  const { lines, state, turn } = givenReader(MANY);
  lines.write("a\n");
  lines.write("b\n");
  lines.writeLastWords();
  turn();
  assert.deepEqual(state.taken.split("\n").sort(), ["", "a", "b"]);
});

test("at the end a reader that takes nothing is given a second", () => {
  const { lines, state, turn, clock } = givenReader(0);
  lines.write("a\n");
  turn();
  lines.writeLastWords();
  assert.deepEqual([state.taken, clock.monotonicMs(), state.pauses], ["", 1_000, 100]);
});

test("at the end a full disk or a broken pipe is given no time", () => {
  const { lines, state, turn, clock } = givenReader(0);
  state.fault = "ENOSPC";
  lines.write("a\n");
  turn();
  lines.writeLastWords();
  assert.deepEqual([clock.monotonicMs(), state.pauses], [0, 0]);
});
