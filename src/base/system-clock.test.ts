import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { systemClock } from "./clock.ts";

test("a timer that is a number, as in browsers and workers, runs and can be cleared", () => {
  const started = mock.method(globalThis, "setTimeout", (() => 7) as unknown as typeof setTimeout);
  const cleared = mock.method(globalThis, "clearTimeout", () => undefined);
  try {
    systemClock.after(10, () => undefined)();
    assert.deepEqual(started.mock.calls[0]?.arguments[1], 10);
    assert.deepEqual(cleared.mock.calls[0]?.arguments, [7]);
  } finally {
    mock.restoreAll();
  }
});
