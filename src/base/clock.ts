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
