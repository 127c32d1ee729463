/** Runs a generator of slices to its end without a pause. */
export function finish<T>(slices: Generator<undefined, T>): T {
  for (;;) {
    const step = slices.next();
    if (step.done === true) return step.value;
  }
}
