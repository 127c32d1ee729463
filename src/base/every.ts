import type { Clock } from "./clock.ts";

/** Stops the work; resolves when it can have no further effect. */
export type End = () => Promise<void>;

export interface Repeat {
  /** From the end of one round to the start of the next. */
  readonly ms: number;
  /** Before the first round; as `ms` when absent. 0: it starts at once. */
  readonly firstMs?: number;
  readonly clock: Pick<Clock, "after">;
  /** Gets the first fault of an outage: rounds that fail go on, but the log has one line for them. */
  readonly failed: (fault: unknown) => void;
}

/** Never twice at a time, also after a round that fails. A task may return its own pause. The result ends the loop. */
export function every(repeat: Repeat, task: () => Promise<number | void>): End {
  const { ms, firstMs = ms, clock, failed } = repeat;
  let callOff = (): void => undefined;
  let isStopped = false;
  let isFailing = false;
  let running: Promise<void> = Promise.resolve();
  const round = async (): Promise<void> => {
    let pauseMs: number | void = undefined;
    try {
      pauseMs = await task();
      isFailing = false;
    } catch (fault) {
      if (!isFailing) failed(fault);
      isFailing = true;
    }
    if (!isStopped) arm(pauseMs ?? ms);
  };
  const begin = (): void => {
    running = round();
  };
  const arm = (delayMs: number): void => {
    callOff = clock.after(delayMs, begin);
  };
  if (firstMs === 0) begin();
  else arm(firstMs);
  return async () => {
    isStopped = true;
    callOff();
    await running;
  };
}
