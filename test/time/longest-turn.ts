/** The most that one turn of the event loop may take of the processor for what a stranger sends. */
export const TURN_MAX_MS = 50;

/** Milliseconds of the processor in the longest turn of the event loop while `work` runs. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let start = process.cpuUsage();
  const turn = (): void => {
    const { user, system } = process.cpuUsage(start);
    longest = Math.max(longest, (user + system) / 1_000);
    start = process.cpuUsage();
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  await new Promise(setImmediate);
  isOver = true;
  return longest;
}

/** The least of up to five measurements, because the collector and other processes only add; ends at the first that is good. */
export async function leastOf(measure: () => Promise<number>): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < 5 && least > TURN_MAX_MS; round += 1) {
    least = Math.min(least, await measure());
  }
  return least;
}
