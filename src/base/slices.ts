const waiting: (() => void)[] = [];

/** Lets the next go on; the others wait until the event loop has seen to its connections once more. */
function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}

/** One has a turn in each round of the event loop: slices of fifty bodies in one would keep single checks waiting. */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

export async function inSlices<T>(slices: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const step = slices.next();
    if (step.done === true) return step.value;
    await nextSlice();
  }
}
