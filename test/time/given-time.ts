const TICK_MS = 10;

/**
 * Milliseconds of a clock that stops while this process does not run: for limits on waits.
 * A busy machine then makes no answer late, because a pause counts as one tick; on a
 * quiet machine it is the monotonic clock.
 */
export function givenTime(): { readonly nowMs: () => number; readonly stop: () => void } {
  let givenMs = 0;
  let tickedAtMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    givenMs += Math.min(nowMs - tickedAtMs, TICK_MS);
    tickedAtMs = nowMs;
  }, TICK_MS).unref();
  return { nowMs: () => givenMs, stop: () => clearInterval(timer) };
}

/** How long something took, in milliseconds of `givenTime`. */
export async function givenMsOf(act: () => Promise<unknown>): Promise<number> {
  const { nowMs, stop } = givenTime();
  try {
    await act();
    return nowMs();
  } finally {
    stop();
  }
}
