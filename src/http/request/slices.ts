/** Runs a generator to its end; other requests have a turn at each of its yields. */
export async function inSlices<T>(slices: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const step = slices.next();
    if (step.done === true) return step.value;
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}
