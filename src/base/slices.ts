/** Work that waits for its turn, first come, first served. */
const waiting: (() => void)[] = [];

/** Lets the next go on; the others wait until the event loop has seen to its connections once more. */
function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}

/**
 * Resolves when it is the caller's turn to work for some milliseconds. One has a turn in each round of the event loop,
 * however many wait: slices of fifty bodies in one round would keep single checks waiting as one long slice does.
 */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

/** Runs a generator to its end; each of its slices waits for its turn. */
export async function inSlices<T>(slices: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const step = slices.next();
    if (step.done === true) return step.value;
    await turn();
  }
}
