import type { Clock } from "./clock.ts";

export interface Limit<Late> {
  readonly timeoutMs: number;
  readonly late: Late;
  readonly clock: Pick<Clock, "after">;
}

/**
 * Resolves with `late` after `timeoutMs`; the work itself continues. If this process itself did not run, events that
 * arrived meanwhile are handled first.
 */
export function inTime<T, Late>(
  work: Promise<T>,
  { timeoutMs, late, clock }: Limit<Late>,
): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    let cancel = clock.after(timeoutMs, () => {
      cancel = clock.after(0, () => resolve(late));
    });
    work.then(
      (result) => {
        cancel();
        resolve(result);
      },
      (fault: unknown) => {
        cancel();
        reject(fault as Error);
      },
    );
  });
}
