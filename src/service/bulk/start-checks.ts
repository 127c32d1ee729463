/**
 * Starts `check` on each item as soon as `room` allows it. The promises are in the order of the items; await
 * them all. A check may fail while later items still wait for room: its promise keeps the fault until it is
 * awaited, because an unhandled rejection would end the process.
 */
export async function startChecks<Item, Result>(
  items: readonly Item[],
  check: (item: Item) => Promise<Result>,
  room: () => Promise<void> | undefined,
): Promise<readonly Promise<Result>[]> {
  const started: Promise<Result>[] = [];
  for (const item of items) {
    const wait = room();
    if (wait !== undefined) await wait;
    const result = check(item);
    result.catch(() => undefined);
    started.push(result);
  }
  return started;
}
