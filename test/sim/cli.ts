// `npm run sim -- --seed N [--days D] [--load busy|steady|light] [--trace FILE]`
import "./one-thread.ts";
import { createWriteStream } from "node:fs";
import { parseArgs } from "node:util";
import { type Load, LOADS } from "./faults.ts";
import { run } from "./run.ts";
import { shrink } from "./shrink.ts";

const HELP = `npm run sim -- [--seed N] [--days D] [--load busy|steady|light] [--trace FILE] [--no-shrink]

Runs the server in a simulated world, whose faults come from the seed, and says which promises it broke.
  --seed N       a whole number; the same seed is the same run (1)
  --days D       simulated days (30)
  --load L       how much people do: busy, steady or light (busy)
  --trace FILE   writes every event
  --no-shrink    does not look for the fewest faults that break the promise
Exit codes: 0 all promises are kept, 1 one is broken, 2 usage.
`;

/** Ends the program with a sentence on standard error. */
function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\nnpm run sim -- --help says more.\n`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        seed: { type: "string", default: "1" },
        days: { type: "string", default: "30" },
        load: { type: "string", default: "busy" },
        trace: { type: "string" },
        "no-shrink": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

const values = readArguments();
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}

function wholeNumber(name: "seed" | "days", least: number): number {
  const text = values[name];
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= 0xffff_ffff) return value;
  return refuse(`--${name}: "${text}" is no whole number from ${String(least)} to 4294967295`);
}

const seed = wholeNumber("seed", 0);
const days = wholeNumber("days", 1);
const file = values.trace === undefined ? undefined : createWriteStream(values.trace);
const load: Load =
  new Map<string, Load>(Object.entries(LOADS)).get(values.load) ??
  refuse(`--load: "${values.load}" is none of ${Object.keys(LOADS).join(", ")}`);
const options = { seed, days, load };
const before = process.cpuUsage();
// As it would end a real process.
process.once("uncaughtException", (fault) => {
  process.stdout.write(`seed ${String(seed)}: nobody caught ${fault.stack ?? fault.message}\n`);
  process.exit(1);
});
const outcome = await run({
  ...options,
  ...(file !== undefined && { trace: (line: string) => void file.write(`${line}\n`) }),
});
const spent = process.cpuUsage(before);
const seconds = (spent.user + spent.system) / 1_000_000;
const { violations, hash, events, requests, kills, faults } = outcome;
process.stdout.write(
  `seed ${String(seed)}: ${String(outcome.days)} days in ${seconds.toFixed(1)} s of CPU, ` +
    `${((60 * outcome.days) / seconds).toFixed(0)} a minute; ${String(events)} events, ${String(requests)} requests, ` +
    `${String(kills)} kills, trace ${hash.slice(0, 16)}\n`,
);
if (violations.length > 0) {
  process.stdout.write(`${violations.join("\n")}\n`);
  const shortest = values["no-shrink"]
    ? []
    : await shrink({ ...options, days: outcome.days + 1 }, faults);
  process.stdout.write(`shortest faults found:\n${JSON.stringify(shortest, null, 1)}\n`);
  process.exitCode = 1;
}
file?.end(() => process.exit());
if (file === undefined) process.exit();
