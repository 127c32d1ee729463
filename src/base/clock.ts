/** Time for services: tests turn the hands themselves. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. May step in both directions. */
  nowMs(): number;
  /** Milliseconds that never go back; only differences mean anything. */
  monotonicMs(): number;
  /** Runs `task` once after `delayMs`; the returned function calls it off. Keeps no process alive. */
  after(delayMs: number, task: () => void): () => void;
}
