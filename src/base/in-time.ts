import type { Clock } from "./clock.ts";

export interface Limit<Late> {
  readonly timeoutMs: number;
  readonly late: Late;
  readonly clock: Pick<Clock, "after">;
}

/** The work continues. If this process itself did not run, events that arrived meanwhile are handled first. */
export async function inTime<T, Late>(
  work: Promise<T>,
  { timeoutMs, late, clock }: Limit<Late>,
): Promise<T | Late> {
  let callOff = (): void => undefined;
  const timeout = new Promise<Late>((resolve) => {
    callOff = clock.after(timeoutMs, () => {
      callOff = clock.after(0, () => resolve(late));
    });
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    callOff();
  }
}
