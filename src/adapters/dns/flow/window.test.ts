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
  assert.ok(
    last(epochs(window, 12, (size) => (size > 100 ? 0.5 * (size / 1_800) + 0.04 : 0))) < 300,
  );
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
