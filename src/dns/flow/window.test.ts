import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Window } from "./window.ts";

/** Share of tries that fail at a size. */
type Failing = (size: number) => number;

/** Runs epochs with 1,000 tries each; all places are in use unless told. Returns the sizes after each. */
function epochs(window: Window, count: number, failing: Failing, held?: number): readonly number[] {
  const sizes: number[] = [];
  for (let epoch = 0; epoch < count; epoch += 1) {
    const startMs = nextMs;
    const bad = Math.round(1_000 * failing(window.size));
    for (let index = 0; index < 1_000; index += 1) {
      const number = window.sent(held ?? window.size, startMs);
      if (index < bad) window.failed(number);
      else window.answered(number);
    }
    nextMs += 2_500;
    window.adjust(nextMs);
    sizes.push(window.size);
  }
  return sizes;
}
let nextMs = 0;

const least = (sizes: readonly number[]): number => Math.min(...sizes);
const last = (sizes: readonly number[]): number => sizes.at(-1) ?? NaN;

test("the window starts at its maximum and stays there while 5 % or less fail", () => {
  assert.equal(least(epochs(new Window(1_800), 20, () => 0.05)), 1_800);
});

test("failures that a smaller window does not lower cost one epoch, then none for half a minute", () => {
  const sizes = epochs(new Window(1_800), 12, () => 0.2);
  assert.deepEqual(sizes.slice(0, 3), [1_260, 1_800, 1_800]);
  assert.equal(least(sizes.slice(1)), 1_800);
});

test("failures that the size causes shrink it until they are gone, and it grows again slowly", () => {
  const limit = 500;
  const sizes = epochs(new Window(1_800), 60, (size) => Math.max(0, 1 - limit / size));
  const later = sizes.slice(10);
  const mean = later.reduce((sum, size) => sum + size, 0) / later.length;
  assert.ok(least(sizes) >= limit * 0.5, `${String(least(sizes))} at least`);
  assert.ok(mean < limit * 1.35 && mean > limit * 0.7, `${String(mean)} on average`);
});

test("a window far beyond what the server takes comes down to that at once", () => {
  const sizes = epochs(new Window(1_800), 20, (size) => Math.max(0, 1 - 100 / size));
  assert.equal(sizes[0], 100);
  assert.ok(Math.max(...sizes) <= 200, `${String(Math.max(...sizes))} at most`);
});

test("a trial in which little is asked proves little", () => {
  const ask = (window: Window, held: number, good: number, bad: number): number => {
    for (let n = 0; n < good + bad; n += 1) {
      const number = window.sent(held, nextMs);
      if (n < good) window.answered(number);
      else window.failed(number);
    }
    nextMs += 2_500;
    window.adjust(nextMs);
    return window.size;
  };
  const window = new Window(1_800);
  assert.equal(ask(window, 1_800, 700, 300), 1_260);
  assert.equal(ask(window, 40, 19, 0), 1_800);
  assert.equal(ask(window, 1_800, 930, 70), 1_260);
  assert.equal(ask(window, 40, 56, 4), 1_800);
  assert.equal(ask(window, 1_800, 125, 875), 225);
  ask(window, 225, 60, 0); // what was asked before fills the server
  assert.equal(ask(window, 40, 60, 0), 225);
});

test("a share that is lower by chance does not keep a trial's size", () => {
  const window = new Window(1_800);
  const epoch = (good: number, bad: number): number => {
    for (let n = 0; n < good + bad; n += 1) {
      const number = window.sent(window.size, nextMs);
      if (n < good) window.answered(number);
      else window.failed(number);
    }
    nextMs += 2_500;
    window.adjust(nextMs);
    return window.size;
  };
  assert.equal(epoch(1_197, 97), 1_260);
  assert.equal(epoch(1_577, 107), 1_800); // 6.4 % after 7.5 %
});

test("what counts is the share of the owner with the least, of those with any answer", () => {
  const epoch = (window: Window, others: number): number => {
    for (let n = 0; n < 60; n += 1) window.answered(window.sent(300, nextMs), "bucket:192.0.2.1");
    for (let n = 0; n < 400; n += 1) {
      const number = window.sent(300, nextMs);
      if (n < others) window.answered(number, "bucket:192.0.2.2");
      else window.failed(number, "bucket:192.0.2.2");
    }
    nextMs += 2_500;
    window.adjust(nextMs);
    return window.size;
  };
  assert.equal(epoch(new Window(1_800), 0), 1_800);
  assert.equal(epoch(new Window(1_800), 40), 1_800);
});

test("a server that answers nothing does not change the window", () => {
  assert.equal(least(epochs(new Window(1_800), 10, () => 1)), 1_800);
});

test("what is accepted falls with the share, so that a new cause is found", () => {
  const window = new Window(1_800);
  epochs(window, 2, () => 0.4);
  epochs(window, 1, () => 0.2);
  assert.deepEqual(
    epochs(window, 1, () => 0.3),
    [1_260],
  );
});

test("the window is back at its maximum 25 s after the cause is gone", () => {
  const window = new Window(1_800);
  assert.ok(last(epochs(window, 12, (size) => Math.max(0, 1 - 150 / size))) < 300);
  assert.equal(last(epochs(window, 10, () => 0)), 1_800);
});

test("a window that is not full does not grow", () => {
  const window = new Window(1_800);
  const [size] = epochs(window, 1, () => 0.5);
  assert.deepEqual(
    epochs(window, 2, () => 0, 10),
    [size, size],
  );
});

test("a trial with too few tries ends without a change", () => {
  const window = new Window(1_800);
  assert.deepEqual(
    epochs(window, 1, () => 0.2),
    [1_260],
  );
  window.sent(1, nextMs);
  window.adjust((nextMs += 2_500));
  assert.equal(window.size, 1_800);
});

test("fewer than 100 tries, late ones and those of an earlier epoch decide nothing", () => {
  const window = new Window(1_800);
  const first = window.sent(1, 0);
  for (let count = 0; count < 99; count += 1) window.failed(first);
  const late = window.sent(1, 1_200);
  for (let count = 0; count < 1_000; count += 1) window.failed(late);
  window.adjust(2_500);
  window.sent(1, 2_500);
  for (let count = 0; count < 1_000; count += 1) window.failed(first);
  window.adjust(5_000);
  assert.equal(window.size, 1_800);
});

test("tries that are answered after their time are slow, not lost", () => {
  const window = new Window(1_800);
  for (let index = 0; index < 1_000; index += 1) {
    const number = window.sent(1_800, nextMs);
    if (index >= 200) window.answered(number);
    else window.failed(number);
    if (index < 160) window.late(number);
  }
  nextMs += 2_500;
  window.adjust(nextMs);
  assert.equal(window.size, 1_800);
});
