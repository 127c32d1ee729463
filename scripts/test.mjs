// Runs the compiled tests; words on the command line select them by path. `--long` runs the long suites
// (`*.long.test.ts`) instead. Node 20 takes no globs after --test and Node 24 takes no folders, so the
// files are named one by one. TEST_AGAIN=n: up to n files that failed are run once more, alone; one that passes then is
// reported as "unsteady": a fault of the test or the product that must be fixed, but not of the change under test.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { compose } from "node:stream";
import { text } from "node:stream/consumers";
import { run } from "node:test";
import * as reporters from "node:test/reporters";
import openTests from "./open-tests.mjs";
import tallied from "./test-tally.mjs";

const words = process.argv.slice(2).filter((word) => word !== "--long");
const long = process.argv.includes("--long");
const again = Number(process.env.TEST_AGAIN ?? 0);
const { spec, [process.env.TEST_REPORTER ?? (process.env.CI === "true" ? "tap" : "spec")]: named } =
  reporters;
const reporter = named === spec ? () => new spec() : () => named;
// A test whose server survives its failure would block the run. The limit covers whole files too, on machines
// that are slow. On a busy one (busy.mjs) everything is slower.
const timeoutMs = process.env.TEST_SLOW ? 3_600_000 : long ? 1_800_000 : 300_000;

// The processes of test files have the options of this one. A stack has the sources' lines where it is likely to be read:
// to read the map of every module costs a tenth of a run.
const MAPS = "--enable-source-maps";
process.execArgv.push("--require=./scripts/untracked.cjs");
if (words.length > 0) process.execArgv.push(MAPS);

/** Runs `files` in parallel, in this order; returns their results. */
async function runFiles(files, concurrency) {
  const paths = files.map((file) => resolve(file));
  const events = run({ files: paths, concurrency, timeout: timeoutMs });
  events.setMaxListeners(30); // each reader takes ten
  compose(events, reporter()).pipe(process.stdout, { end: false });
  compose(events, openTests).pipe(process.stderr, { end: false });
  return JSON.parse(await text(compose(events, tallied)));
}

/** One that begins last and takes minutes would run alone: those that take most come first, and those that wait beside them. */
const LONGEST = [
  "together/http.",
  "together/main.",
  "/linear.",
  "kill/",
  "suites/neighbours.",
  "stores/outages.",
  "sim/sim.",
  "e2e/crowds.",
  "e2e/sends.",
  "suites/release.",
  "samples/",
  "suites/stops.",
  "pages/",
  "stores/",
  "guards/benches.",
  "guards/newcomer.",
  "main/lists.",
  "dashboard/",
  "suites/",
  "sim/",
  "upgrade/",
];
const rank = (name) => {
  const at = LONGEST.findIndex((part) => name.includes(part));
  return at < 0 ? LONGEST.length : at;
};

const JOINED = ["src", "packages", "test"];
const TOGETHER = join("dist", "together");

/** Has hooks for a whole file, or waits while it is loaded. */
const needsOwnProcess = (file) =>
  /^(?:(?:before|after)(?:Each)?\(|(?:const .+ = )?await )/m.test(readFileSync(file, "utf8"));

/** Joins the tests of each folder of `src` and `test`, and of each package, in one file: to load what they need takes longer than most of them. */
function together(files) {
  const joined = new Map();
  for (const file of files) {
    const [top, source, folder] = file.split(sep);
    // The tests of http take as long as all others: each of its folders is one.
    const joint = folder === "http" ? dirname(file) : join(top, source, folder);
    const isJoined = JOINED.includes(source) && !needsOwnProcess(file);
    const key = isJoined ? joint : file;
    joined.set(key, [...(joined.get(key) ?? []), file]);
  }
  rmSync(TOGETHER, { recursive: true, force: true });
  mkdirSync(TOGETHER);
  return [...joined].map(([key, parts]) => {
    if (parts.length === 1) return parts[0];
    const name = relative("dist", key)
      .replaceAll(sep, ".")
      .replace(/^src\./, "");
    const file = join(TOGETHER, `${name}.test.js`);
    writeFileSync(file, parts.map((part) => `import "${relative(TOGETHER, part)}";\n`).join(""));
    return file;
  });
}

const files = readdirSync("dist", { recursive: true })
  .filter((name) => name.endsWith(".test.js") && name.endsWith(".long.test.js") === long)
  .filter((name) => !name.startsWith("together")) // of an earlier run
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
  .map((name) => join("dist", name));
if (files.length === 0) throw new Error("no compiled tests match: run npm run build first");

// More than there are cores, because tests wait for timers and servers; long suites wait for half of their time.
const ordered = (long ? files : together(files)).toSorted(
  (a, b) => rank(a) - rank(b) || (a < b ? -1 : 1),
);
const tally = await runFiles(ordered, long ? 8 : 3);
let { passed, failed, names, files: red } = tally;
if (failed > 0 && tally.files.length > 0 && tally.files.length <= again) {
  process.execArgv.push(MAPS);
  const second = await runFiles(tally.files, 1);
  for (const file of tally.files)
    if (!second.files.includes(file)) console.log(`unsteady: ${file}`);
  for (const name of names) console.log(`failed beside others: ${name}`);
  passed += failed - second.failed;
  ({ failed, names, files: red } = second);
}
process.exitCode = failed === 0 ? 0 : 1;
const slowest = Object.entries(tally.seconds)
  .toSorted(([, a], [, b]) => b - a)
  .slice(0, 12)
  .map(
    ([file, seconds]) => `${seconds} s ${file.replace(/^dist\//, "").replace(/\.test\.js$/, "")}`,
  );
for (const name of [...red, ...names]) console.log(`failed: ${name}`);
console.log(`slowest files: ${slowest.join(", ")}`);
console.log(`${passed} passed, ${failed} failed, ${tally.skipped} skipped`);
