/** Never two rounds of work at a time: who calls during one gets the next, which begins after the call and is the same for all. */
export function inRounds(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = async (): Promise<void> => {
    next = undefined;
    running = work();
    try {
      await running;
    } finally {
      running = undefined;
    }
  };
  return () => {
    if (next !== undefined) return next;
    if (running === undefined) return begin();
    next = running.then(begin, begin);
    return next;
  };
}
