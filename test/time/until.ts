import type { Awaitable } from "../../src/core/mail/lookup.ts";

/** A busy machine is slow, not wrong. */
export const PATIENCE_MS = 120_000;

/** For open-ended waits: one that never ends fails early enough to name it. */
const NAMED_AFTER_MS = 300_000;

/** A poll costs a query in some tests; polling without a pause would starve the work. */
const PAUSE_MS = 2;

export interface Waiting {
  readonly what?: string;
  readonly withinMs?: number;
  /** Between two polls. */
  readonly everyMs?: number;
}

/**
 * Polls until `look` returns a value other than undefined or false, and returns it: for results of other turns of the
 * event loop, or other processes, bring about. Fails after `withinMs`.
 */
export async function until<T>(
  look: () => Awaitable<T | undefined>,
  { what = "it", withinMs = PATIENCE_MS, everyMs = PAUSE_MS }: Waiting = {},
): Promise<Exclude<T, false>> {
  for (const endMs = Date.now() + withinMs; ;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen as Exclude<T, false>;
    if (Date.now() >= endMs) throw new Error(`${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/**
 * The result of `promise`. Fails with the name `what` if it never settles: the run ends a test that waits
 * much later, and cannot tell what it waited for.
 */
export async function inPatience<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not happen`)), NAMED_AFTER_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
