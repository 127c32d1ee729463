// Preloaded into test processes. node:test maps every promise and timer to its test by an async hook, which costs a fifth
// of a process's time, and half where there are many promises. It needs the map while files are loaded, for tests inside
// suites; later only to name the test of an error that no test caught, which fails its file with or without the map.
"use strict";
const hooks = require("node:async_hooks");
const { isMainThread } = require("node:worker_threads");

if (isMainThread && process.argv[1]?.endsWith(".test.js")) {
  const { createHook } = hooks;
  hooks.createHook = (callbacks) => {
    const hook = createHook(callbacks);
    const enable = hook.enable.bind(hook);
    hook.enable = () => {
      enable();
      // Runs when all modules of the file were evaluated: none of them waits at its top level.
      queueMicrotask(() => hook.disable());
      return hook;
    };
    return hook;
  };
  require("node:test");
  hooks.createHook = createHook;

  // TEST_CPU=file: a line with the seconds of processor that the test file took, and those of the processes it waited for.
  const { TEST_CPU } = process.env;
  if (TEST_CPU !== undefined) {
    const { appendFileSync, readFileSync } = require("node:fs");
    process.on("exit", () => {
      const ticks = readFileSync("/proc/self/stat", "latin1").split(") ")[1].split(" ");
      const [user, system, childUser, childSystem] = ticks.slice(11, 15).map(Number);
      const seconds = [user + system, childUser + childSystem].map((sum) => (sum / 100).toFixed(1));
      appendFileSync(TEST_CPU, `${seconds.join(" ")} ${process.argv[1]}\n`);
    });
  }
}
