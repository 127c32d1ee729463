import type { Fault } from "./faults.ts";
import { run, type RunOptions } from "./run.ts";

const TRIES_MAX = 60;

/** The shortest list of faults found that still ends the run with a violation. */
export async function shrink(
  options: Omit<RunOptions, "faults">,
  faults: readonly Fault[],
): Promise<readonly Fault[]> {
  let shortest = faults.filter(({ day }) => day < options.days);
  let tries = 0;
  const fails = async (some: readonly Fault[]): Promise<boolean> => {
    tries += 1;
    return (await run({ ...options, faults: some })).violations.length > 0;
  };
  for (let size = Math.ceil(shortest.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < shortest.length && tries < TRIES_MAX;) {
      const without = [...shortest.slice(0, from), ...shortest.slice(from + size)];
      if (await fails(without)) shortest = without;
      else from += size;
    }
  }
  return shortest;
}
