// `npm run sim -- --seed N [--days D] [--trace FILE]`
import "./one-thread.ts";
import { createWriteStream } from "node:fs";
import { parseArgs } from "node:util";
import { run } from "./run.ts";
import { shrink } from "./shrink.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    days: { type: "string", default: "30" },
    trace: { type: "string" },
    "no-shrink": { type: "boolean", default: false },
  },
});
const [seed, days] = [Number(values.seed), Number(values.days)];
const file = values.trace === undefined ? undefined : createWriteStream(values.trace);
// The model of Redis is missing, so the world has one server with its own bulk thread.
const options = { seed, days, servers: 1, workers: 0 };
const startMs = performance.now();
const outcome = await run({
  ...options,
  ...(file !== undefined && { trace: (line: string) => void file.write(`${line}\n`) }),
});
const seconds = (performance.now() - startMs) / 1_000;
const { violations, hash, events, requests, kills, faults } = outcome;
process.stdout.write(
  `seed ${String(seed)}: ${String(outcome.days)} days in ${seconds.toFixed(1)} s, ${String(events)} events, ` +
    `${String(requests)} requests, ${String(kills)} kills, trace ${hash.slice(0, 16)}\n`,
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
