// Runs the compiled tests; words on the command line narrow them by path. `--long` runs the long suites
// (`*.long.test.ts`) instead. Node 20 takes no globs after --test and Node 24 takes no folders, so the
// files are named one by one.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const words = process.argv.slice(2).filter((word) => word !== "--long");
const long = process.argv.includes("--long");
const files = readdirSync("dist", { recursive: true })
  .filter((name) => name.endsWith(".test.js") && name.endsWith(".long.test.js") === long)
  .filter((name) => words.every((word) => name.includes(word)))
  .sort()
  .map((name) => join("dist", name));
if (files.length === 0) throw new Error("no compiled tests match: run npm run build first");
const reporter = process.env.CI === "true" ? "tap" : "spec";
// A test whose server outlives its failure would keep the run for ever. It counts for whole files too, on machines
// that are slow and busy.
const timeoutMs = long ? 3_600_000 : 300_000;
const args = [
  "--enable-source-maps",
  "--test",
  `--test-timeout=${timeoutMs}`,
  `--test-reporter=${process.env.TEST_REPORTER ?? reporter}`,
];
const run = spawnSync(process.execPath, [...args, "--test-concurrency=2", ...files], {
  stdio: "inherit",
});
process.exitCode = run.status ?? 1;
