// Compiles src, test and bench into dist. `--clean` starts from an empty dist (tsc leaves the output of
// deleted files behind, and a stale test would run); `--if-stale` does nothing when dist is newer than
// every source, so that `npm start` and the checkout's `gatepost` begin at once.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "dist", ".built");
const SOURCES = ["src", "test", "bench", "package.json", "tsconfig.base.json", "scripts/build.mjs"];

function newestMs(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  const names = readdirSync(path);
  return Math.max(stat.mtimeMs, ...names.map((name) => newestMs(join(path, name))));
}

function isFresh() {
  if (!existsSync(stamp)) return false;
  const builtMs = statSync(stamp).mtimeMs;
  return SOURCES.every((name) => newestMs(join(root, name)) <= builtMs);
}

/** Builds when needed; ends the process with the compiler's exit code when it fails. */
export function build({ clean = false, ifStale = false } = {}) {
  if (ifStale && isFresh()) return;
  const startedAt = new Date();
  if (clean) rmSync(join(root, "dist"), { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const run = spawnSync(process.execPath, [tsc, "-b"], { cwd: root, stdio: ["ignore", 2, 2] });
  if (run.status !== 0) process.exit(run.status ?? 1); // tsc has said why
  writeFileSync(stamp, "");
  utimesSync(stamp, startedAt, startedAt); // an edit during the build must look newer than it
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flags = process.argv.slice(2);
  build({ clean: flags.includes("--clean"), ifStale: flags.includes("--if-stale") });
}
