// `node dist/test/sim/plant-run.js [days] [word]`: plants each fault in a copy of the compiled program and runs days
// of a simulated world until it is found. Prints one line a plant and how many were found.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Plant, PLANTS } from "./plants.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The text of a file with its fault; undefined where the plant does not fit the file any more. */
export function planted(
  text: string,
  { from, to }: Pick<Plant, "from" | "to">,
): string | undefined {
  return text.includes(from) ? text.replace(from, () => to) : undefined;
}

export const textOf = ({ file }: Plant): string =>
  readFileSync(join(root, "dist", "src", `${file}.js`), "utf8");

/** In how many days it was found, and how; undefined when it was not, or does not fit. */
export function findPlant(plant: Plant, days: number, seed = 7): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-plant-"));
  try {
    cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
    for (const name of readdirSync(root)) {
      if (name !== "dist") symlinkSync(join(root, name), join(folder, name));
    }
    const path = join(folder, "dist", "src", `${plant.file}.js`);
    const text = planted(textOf(plant), plant);
    if (text === undefined) return undefined;
    unlinkSync(path);
    writeFileSync(path, text);
    const program = join(folder, "dist", "test", "sim", "cli.js");
    const args = [program, "--seed", String(seed), "--days", String(days), "--no-shrink"];
    const ran = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (ran.status === 0) return undefined;
    if (ran.stdout.trim() !== "") return ran.stdout.trim();
    throw new Error(`the run did not start: ${ran.stderr}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
