// Runs the compiled tests; words on the command line select them by path. `--long` runs the long suites
// (`*.long.test.ts`) instead. Node 20 takes no globs after --test and Node 24 takes no folders, so the
// files are named one by one. TEST_AGAIN=n: up to n files that failed are run once more, alone; one that passes then is
// reported as "unsteady": a fault of the test or the product that must be fixed, but not of the change under test.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const words = process.argv.slice(2).filter((word) => word !== "--long");
const long = process.argv.includes("--long");
const again = Number(process.env.TEST_AGAIN ?? 0);
const reporter = process.env.TEST_REPORTER ?? (process.env.CI === "true" ? "tap" : "spec");
// A test whose server survives its failure would block the run. The limit covers whole files too, on machines
// that are slow and busy. In uneven time (uneven.mjs) everything is slow.
const isUneven = process.env.UNEVEN_SEED !== undefined;
const timeoutMs = isUneven ? 3_600_000 : long ? 900_000 : 180_000;

/** Runs `files` in parallel; returns their results. */
function run(files, concurrency) {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-tally-"));
  const tallyFile = join(folder, "tally.json");
  const args = [
    "--enable-source-maps",
    "--require=./scripts/untracked.cjs",
    "--test",
    `--test-timeout=${timeoutMs}`,
    `--test-concurrency=${concurrency}`,
    `--test-reporter=${reporter}`,
    "--test-reporter-destination=stdout",
    "--test-reporter=./scripts/open-tests.mjs",
    "--test-reporter-destination=stderr",
    "--test-reporter=./scripts/test-tally.mjs",
    `--test-reporter-destination=${tallyFile}`,
  ];
  const { status } = spawnSync(process.execPath, [...args, ...files], { stdio: "inherit" });
  try {
    return { status: status ?? 1, tally: JSON.parse(readFileSync(tallyFile, "utf8")) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const files = readdirSync("dist", { recursive: true })
  .filter((name) => name.endsWith(".test.js") && name.endsWith(".long.test.js") === long)
  .filter((name) => words.every((word) => name.includes(word)))
  .sort((a, b) => (a < b ? -1 : 1))
  .map((name) => join("dist", name));
if (files.length === 0) throw new Error("no compiled tests match: run npm run build first");

// Long suites spend half of their time waiting for outages and leases.
const { status, tally } = run(files, long ? 3 : 2);
process.exitCode = status;
let { passed, failed } = tally;
if (status !== 0 && tally.files.length > 0 && tally.files.length <= again) {
  const second = run(tally.files, 1);
  process.exitCode = second.status;
  if (second.status === 0) for (const file of tally.files) console.log(`unsteady: ${file}`);
  passed += failed - second.tally.failed;
  failed = second.tally.failed;
}
const slowest = Object.entries(tally.seconds)
  .toSorted(([, a], [, b]) => b - a)
  .slice(0, 12)
  .map(
    ([file, seconds]) => `${seconds} s ${file.replace(/^dist\//, "").replace(/\.test\.js$/, "")}`,
  );
console.log(`slowest files: ${slowest.join(", ")}`);
console.log(`${passed} passed, ${failed} failed, ${tally.skipped} skipped`);
