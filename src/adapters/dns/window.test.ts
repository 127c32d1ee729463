import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Window } from "./window.ts";

interface Interval {
  readonly rttMs: number;
  readonly answers?: number;
  readonly recovered?: number;
  readonly full?: boolean;
  /** Intervals that passed before. */
  readonly after?: number;
}

/** Lets `times` intervals of 20 ms pass in which the same happens. */
function pass(window: Window, times: number, interval: Interval): number {
  const { rttMs, answers = 100, recovered = 0, full = true, after = 0 } = interval;
  for (let tick = after + 1; tick <= after + times; tick += 1) {
    for (let count = 0; count < answers; count += 1) window.answered(rttMs);
    for (let count = 0; count < recovered; count += 1) window.recovered();
    if (full) window.full();
    window.adjust(tick * 20);
  }
  return window.size;
}

const cases: readonly (readonly [string, Interval, (size: number) => boolean])[] = [
  ["grows to its limit while round trips stay as they are", { rttMs: 5 }, (size) => size === 1_600],
  ["stays when nobody has to wait", { rttMs: 5, full: false }, (size) => size === 64],
  [
    "shrinks to 16 when round trips pass twice the first and 3 ms",
    { rttMs: 40 },
    (size) => size === 16,
  ],
  ["grows while they are just below", { rttMs: 12 }, (size) => size > 64],
  [
    "shrinks once in 3 s when more than 3 % needed a retry",
    { rttMs: 5, recovered: 4 },
    (size) => size === 1_120,
  ],
  ["stays wide when 3 % or less did", { rttMs: 5, recovered: 3 }, (size) => size === 1_600],
];

for (const [name, interval, holds] of cases) {
  test(`the window ${name}`, () => {
    const window = new Window(1_600);
    pass(window, 1, { rttMs: 5, full: false });
    const size = pass(window, 200, interval);
    assert.ok(holds(size), `${size}`);
  });
}

test("one lost answer in a hundred, or five in the first hundred, are no loss yet", () => {
  const window = new Window(1_600);
  pass(window, 1, { rttMs: 5, full: false });
  const grown = pass(window, 5, { rttMs: 5, recovered: 5 });
  assert.ok(grown > 64, `${grown}`);
  assert.ok(pass(window, 40, { rttMs: 5, recovered: 1 }) > grown);
});

test("losses of a wide window are not held against the narrow one after it", () => {
  const window = new Window(1_600);
  pass(window, 160, { rttMs: 5, answers: 300 });
  const narrowed = pass(window, 5, { rttMs: 40, answers: 300, after: 160 });
  assert.ok(narrowed < 400, `${narrowed}`);
  // What was lost before comes back now, beside the few answers of the narrow window.
  const after = pass(window, 40, { rttMs: 5, answers: 40, recovered: 6, after: 165 });
  assert.equal(after, 1_600);
});

test("a window may begin wide", () => {
  assert.equal(new Window(1_600, 1_000).size, 1_000);
  assert.equal(new Window(400, 1_000).size, 400);
});

test("a handful of answers is kept until there are twenty to go by", () => {
  const window = new Window(1_600);
  pass(window, 1, { rttMs: 5, full: false });
  assert.equal(pass(window, 1, { rttMs: 90, answers: 19 }), 64);
  assert.ok(pass(window, 1, { rttMs: 90, answers: 1 }) < 64);
});

test("a window under a small limit never passes it", () => {
  const window = new Window(8);
  assert.equal(window.size, 8);
  assert.equal(pass(window, 20, { rttMs: 1 }), 8);
  assert.equal(pass(window, 20, { rttMs: 100 }), 8);
});

test("every 10 s the window breathes out and learns a path that has become slower", () => {
  const window = new Window(1_600);
  pass(window, 1, { rttMs: 5 });
  for (let nowMs = 40; window.size !== 16 || nowMs < 10_000; nowMs += 20) {
    assert.ok(nowMs < 11_000, "no breath");
    for (let count = 0; count < 30; count += 1) window.answered(12);
    window.full();
    window.adjust(nowMs);
  }
  for (let count = 0; count < 30; count += 1) window.answered(40);
  window.adjust(12_000);
  const after = window.size;
  assert.ok(after > 16, `${after}`);
  for (let count = 0; count < 30; count += 1) window.answered(40);
  window.full();
  window.adjust(12_020);
  assert.ok(window.size >= after, "40 ms is the path now, not a queue");
});
