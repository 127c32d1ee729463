// Compiles src, test and bench into dist, joins the program into a few files in dist/run, and the dashboard into
// dist/dashboard. `--clean` starts from an empty dist; `--if-stale` does nothing if dist is newer than every source, so
// that `npm start`, `npm test` and the checkout's `gatepost` start at once.
import { spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "dist", ".built");
const SOURCES = [
  "src",
  "tables",
  "packages/light/src",
  "packages/mcp/src",
  "packages/widget",
  "test",
  "bench",
  "package.json",
  ...readdirSync(root).filter((name) => /^(?:tsconfig|vite).*\.(?:json|ts)$/.test(name)),
  "scripts/build.mjs",
  "scripts/tables.mjs",
];

const INSTALLED = new Set(["node_modules", "python-packages", "__pycache__"]);

function newestMs(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  // Generators and interpreters write caches beside the packages that tests use.
  const names = readdirSync(path).filter((name) => !INSTALLED.has(name));
  return Math.max(stat.mtimeMs, ...names.map((name) => newestMs(join(path, name))));
}

function isFresh(stampFile, sources) {
  if (!existsSync(stampFile)) return false;
  const builtMs = statSync(stampFile).mtimeMs;
  return sources.every((name) => newestMs(join(root, name)) <= builtMs);
}

/** Whether there is a program that this user cannot build anew. */
function isFixed() {
  if (!existsSync(stamp)) return false;
  try {
    accessSync(stamp, constants.W_OK);
    return false;
  } catch {
    console.error(
      "The sources are newer than the program in dist, which cannot be written: it runs as it is.",
    );
    return true;
  }
}

/** Marks as built at `startedAt`: an edit during the build must look newer than it. */
function mark(stampFile, startedAt) {
  writeFileSync(stampFile, "");
  utimesSync(stampFile, startedAt, startedAt);
}

/** The compiler keeps what it made of sources that were deleted or renamed since. */
function removeStale() {
  for (const top of ["src", "packages", "test", "bench"]) {
    for (const name of readdirSync(join(root, "dist", top), { recursive: true })) {
      const [, source] = /^(.+?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(name) ?? [];
      if (source === undefined) continue;
      const has = (ending) => existsSync(join(root, top, source + ending));
      if (!has(".ts") && !has(".tsx")) rmSync(join(root, "dist", top, name));
    }
  }
}

/** Runs one of the package's own tools; ends the process with its exit code when it fails. */
function run(...words) {
  const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(status ?? 1); // the tool has printed the reason
}

const dashboardStamp = join(root, "dist", "dashboard", ".built");
const DASHBOARD_SOURCES = ["src/dashboard", "src/core", "tables", "vite.config.ts", "package.json"];

/** Writes a gzip copy of every text larger than a packet; the server sends it to clients that accept gzip. */
function compress(folder) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const path = join(folder, name);
    if (!/\.(?:js|css|html|svg)$/.test(name) || statSync(path).size < 1_400) continue;
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
  }
}

const vite = join(root, "node_modules", "vite", "bin", "vite.js");

function buildDashboard() {
  if (isFresh(dashboardStamp, DASHBOARD_SOURCES)) return;
  const startedAt = new Date();
  run(vite, "build", "--logLevel", "warn");
  compress(join(root, "dist", "dashboard"));
  mark(dashboardStamp, startedAt);
}

/** The viewer of the API documentation, as the service serves it. */
const VIEWER = ["swagger-ui-bundle.js", "swagger-ui.css", "LICENSE", "NOTICE"];

function copyViewer() {
  const from = join(root, "node_modules", "swagger-ui-dist");
  const to = join(root, "dist", "docs");
  mkdirSync(to, { recursive: true });
  for (const name of VIEWER) copyFileSync(join(from, name), join(to, name));
  compress(to);
}

/** Builds when needed; ends the process with the compiler's exit code when it fails. */
export function build({ clean = false, ifStale = false } = {}) {
  if (ifStale && (isFresh(stamp, SOURCES) || isFixed())) return;
  console.error("Building: this takes some 20 seconds, and is done once.");
  if (clean) rmSync(join(root, "dist"), { recursive: true, force: true });
  run(join(root, "scripts", "tables.mjs"));
  const startedAt = new Date(); // after the source that the line above makes
  run(join(root, "node_modules", "typescript", "bin", "tsc"), "-b");
  removeStale();
  run(join(root, "dist", "src", "main", "pack-bundled.js"));
  run(vite, "build", "--config", "vite.program.ts", "--logLevel", "warn");
  buildDashboard();
  copyViewer();
  mark(stamp, startedAt);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flags = process.argv.slice(2);
  build({ clean: flags.includes("--clean"), ifStale: flags.includes("--if-stale") });
}
