// Runs the compiled tests as test.mjs does, on a busy machine: two processes for each core compute all the time, so that
// input, timers and threads come late. `--times` runs them so often. All other words go to test.mjs.
import { spawn, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

const words = process.argv.slice(2);
const at = words.indexOf("--times");
const times = at < 0 ? 1 : Number(words.splice(at, 2)[1]);

const busy = Array.from({ length: 2 * availableParallelism() }, () =>
  spawn(process.execPath, ["--eval", "for (;;);"], { stdio: "ignore" }),
);
try {
  for (let run = 1; run <= times; run += 1) {
    const test = fileURLToPath(new URL("test.mjs", import.meta.url));
    const env = { ...process.env, TEST_SLOW: "1" };
    const { status } = spawnSync(process.execPath, [test, ...words], { stdio: "inherit", env });
    console.log(`busy: run ${run} ${status === 0 ? "passed" : "failed"}`);
    process.exitCode = status === 0 ? 0 : 1;
    if (status !== 0) break;
  }
} finally {
  for (const one of busy) one.kill("SIGKILL");
}
