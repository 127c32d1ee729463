import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Places } from "./places.ts";

/** Work that ends when it is told to. */
function work() {
  const state = { isRunning: false, end: (): void => undefined };
  const run = (): Promise<void> =>
    new Promise((resolve) => {
      state.isRunning = true;
      state.end = resolve;
    });
  return { state, run };
}

test("who finds no place waits, and places go to those who wait longest", async () => {
  const places = new Places(1);
  const [first, second, third] = [work(), work(), work()];
  const held = [first, second, third].map(({ run }) => places.hold(run));
  const running = () => [first, second, third].map(({ state }) => state.isRunning);
  assert.deepEqual(running(), [true, false, false]);
  first.state.end();
  await held[0];
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(running(), [true, true, false]);
  second.state.end();
  await held[1];
  await new Promise((resolve) => setImmediate(resolve));
  third.state.end();
  await Promise.all(held);
});

test("what fails gives its place back", async () => {
  const places = new Places(1);
  const first = work();
  const held = places.hold(first.run);
  const broken = places.hold(() => Promise.reject(new Error("broken")));
  first.state.end();
  await held;
  await assert.rejects(broken, /broken/);
  assert.equal(await places.hold(() => Promise.resolve(7)), 7);
});
