// Runs the compiled tests as test.mjs does, in uneven time: see test/uneven/preload.ts. `--seed` draws the same
// delays again, `--stall` is the longest pause in milliseconds (300), `--late` the longest delay of one
// event (40), `--times` the number of seeds to run one after the other. All other words go to test.mjs.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const preload = pathToFileURL(join(root, "dist", "test", "uneven", "preload.js")).href;

const words = process.argv.slice(2);

/** Removes `--name value` from the words. */
function option(name, otherwise) {
  const at = words.indexOf(`--${name}`);
  if (at < 0) return otherwise;
  const [, value] = words.splice(at, 2);
  if (!/^\d+$/.test(value ?? "")) throw new Error(`--${name} needs a whole number`);
  return Number(value);
}

const stallMs = option("stall", 300);
const lateMs = option("late", 40);
const times = option("times", 1);
const first = option("seed", Date.now() % 1_000_000);

for (let seed = first; seed < first + times; seed += 1) {
  const run = spawnSync(process.execPath, [join(root, "scripts", "test.mjs"), ...words], {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import ${preload}`.trim(),
      UNEVEN_SEED: String(seed),
      UNEVEN_STALL_MS: String(stallMs),
      UNEVEN_MAX_MS: String(lateMs),
    },
  });
  const ended = run.status === 0 ? "passed" : "failed";
  process.stderr.write(
    `uneven: ${ended} with --seed ${seed} --stall ${stallMs} --late ${lateMs}\n`,
  );
  if (run.status !== 0) {
    process.exitCode = 1;
    break;
  }
}
