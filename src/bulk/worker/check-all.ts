/**
 * Runs `check` on each item as soon as `room` allows it; the results are in the order of the items. Once all have begun,
 * it rejects with the first fault, which may have come while later items still waited for room.
 */
export async function checkAll<Item, Result>(
  items: readonly Item[],
  check: (item: Item, at: number) => Promise<Result>,
  room: () => Promise<void> | undefined,
): Promise<Result[]> {
  const results: Result[] = [];
  let open = items.length;
  let resolve = (): void => undefined;
  let reject: (fault: unknown) => void = () => undefined;
  // One promise for all of them, because a list has thousands under way.
  const ended = new Promise<void>((...settle) => ([resolve, reject] = settle));
  ended.catch(() => undefined); // an unhandled rejection would end the process
  if (open === 0) resolve();
  for (const [at, item] of items.entries()) {
    const wait = room();
    if (wait !== undefined) await wait;
    check(item, at).then((result) => {
      results[at] = result;
      open -= 1;
      if (open === 0) resolve();
    }, reject);
  }
  await ended;
  return results;
}
