const BEAT_MS = 250;

/** A beat that is later than this found the process without a turn. Shorter delays are a busy process's own. */
const GAP_MIN_MS = 1_000;

/** Timers of the machine fire up to 1 ms early by this clock. */
const EARLY_MS = 1;

/** Stands still while the whole process does (SIGSTOP, a laptop asleep): for budgets of questions, not for leases. */
export class AwakeClock implements Clock {
  readonly #clock: Clock;
  #gapsMs = 0;
  #waiting = 0;
  #beatMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  monotonicMs(): number {
    const realMs = this.#clock.monotonicMs();
    if (this.#beatMs !== undefined) {
      const lateMs = realMs - this.#beatMs - BEAT_MS;
      if (lateMs >= GAP_MIN_MS) {
        this.#gapsMs += lateMs;
        this.#beatMs = realMs;
      }
    }
    return realMs - this.#gapsMs;
  }

  after(delayMs: number, task: () => void): () => void {
    this.#waiting += 1;
    if (this.#beatMs === undefined) this.#beat();
    const dueMs = this.monotonicMs() + delayMs;
    let isOver = false;
    const over = (): void => {
      if (!isOver) this.#waiting -= 1;
      isOver = true;
    };
    const arm = (leftMs: number): (() => void) =>
      this.#clock.after(leftMs, () => {
        const stillMs = dueMs - this.monotonicMs();
        if (stillMs > EARLY_MS) {
          cancel = arm(stillMs);
          return;
        }
        over();
        task();
      });
    let cancel = arm(delayMs);
    return () => {
      over();
      cancel();
    };
  }

  #beat(): void {
    this.#beatMs = this.#clock.monotonicMs();
    this.#clock.after(BEAT_MS, () => {
      this.monotonicMs(); // counts a gap before the beat is new
      if (this.#waiting > 0) this.#beat();
      else this.#beatMs = undefined;
    });
  }
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, task) {
    // Browsers and workers have numbers for timers, which keep no process alive.
    const timer: { unref?: () => unknown } = setTimeout(task, delayMs);
    timer.unref?.();
    return () => clearTimeout(timer as NodeJS.Timeout);
  },
};

export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. May step in both directions. */
  nowMs(): number;
  /** Milliseconds that never go back; only differences mean anything. */
  monotonicMs(): number;
  /** Runs `task` once after `delayMs`; the returned function calls it off. Keeps no process alive. */
  after(delayMs: number, task: () => void): () => void;
}

export interface Limit<Late> {
  readonly timeoutMs: number;
  readonly late: Late;
  readonly clock: Pick<Clock, "after">;
}

/** Resolves with `late` after `timeoutMs`, events that arrived meanwhile first; the work itself continues. */
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
