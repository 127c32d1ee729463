import type { Clock } from "./clock.ts";

export interface Limit<Late> {
  readonly timeoutMs: number;
  /** What stands for an answer that is not there by then. */
  readonly late: Late;
  readonly clock: Pick<Clock, "after">;
}

/**
 * What `work` comes to, or `late` when it takes longer; it goes on all the same. Leaves no timer. Where this process
 * itself had no turn for so long, what came meanwhile is read before anything counts as late.
 */
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
