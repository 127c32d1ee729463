// `node dist/test/sim/plants/plant-run.js [days] [word]`: plants each fault in the program while it is loaded and runs days
// of a simulated world until it is found. Prints one line a plant and how many were found.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PLANTS } from "./index.ts";
import type { Plant } from "./plant.ts";

const root = new URL("../../../../", import.meta.url);
const pathOf = (path: string): string => fileURLToPath(new URL(path, root));

const compiled = ({ file }: Plant): string => readFileSync(pathOf(`dist/src/${file}.js`), "utf8");

/** Whether the fault's place is in the compiled program. */
export const fits = (plant: Plant): boolean => compiled(plant).includes(plant.from);

/** The compiled file with the fault in it. */
export const planted = (plant: Plant): string =>
  compiled(plant).replace(plant.from, () => plant.to);

/** A run that takes longer stands still. */
const RUN_MS = 600_000;

/** How it was found, with the number of days; undefined when it was not. */
export function findPlant(plant: Plant, days: number, seed = 7): string | undefined {
  const preload = new URL("dist/test/sim/plants/preload.js", root).href;
  const args = [
    `--import=${preload}`,
    pathOf("dist/test/sim/cli.js"),
    "--no-shrink",
    `--seed=${String(seed)}`,
    `--days=${String(days)}`,
  ];
  const env = { ...process.env, SIM_PLANT: JSON.stringify(plant) };
  const ran = spawnSync(process.execPath, args, { encoding: "utf8", env, timeout: RUN_MS });
  if (ran.status === 0) return undefined;
  if (ran.signal !== null) return `no end after ${String(RUN_MS)} ms`;
  if (ran.stdout.trim() !== "") return ran.stdout.trim();
  throw new Error(`the run did not start: ${ran.stderr}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [days = "200", word = ""] = process.argv.slice(2);
  const chosen = PLANTS.filter(({ name }) => name.includes(word));
  let found = 0;
  for (const plant of chosen) {
    const how = findPlant(plant, Number(days));
    if (how !== undefined) found += 1;
    const said = how?.split("\n").slice(0, 2).join(" | ").slice(0, 200) ?? "NOT FOUND";
    process.stdout.write(`${plant.name}: ${said}\n`);
  }
  process.stdout.write(`${String(found)} of ${String(chosen.length)} found within ${days} days\n`);
}
