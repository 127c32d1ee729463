import type { Awaitable } from "../../src/core/mail/lookup.ts";

/** A slow machine with other work is slow, not wrong. */
export const PATIENCE_MS = 60_000;

/** For what nothing can hurry: a wait that would last for ever fails in time to be named. */
const NAMED_AFTER_MS = 5 * PATIENCE_MS;

/** A look costs a query in some tests; a turn of the loop without a pause would starve what is waited for. */
const PAUSE_MS = 2;

export interface Waiting {
  readonly what?: string;
  readonly withinMs?: number;
  /** Between two looks. */
  readonly everyMs?: number;
}

/**
 * Looks until `look` says something other than undefined or false, which is returned: for what other turns of the
 * event loop, or other processes, bring about. Fails after `withinMs`.
 */
export async function until<T>(
  look: () => Awaitable<T | undefined>,
  { what = "it", withinMs = PATIENCE_MS, everyMs = PAUSE_MS }: Waiting = {},
): Promise<Exclude<T, false>> {
  for (const endMs = Date.now() + withinMs; ;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen as Exclude<T, false>;
    if (Date.now() >= endMs) throw new Error(`${what} did not come about`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/**
 * What `promise` comes to. Fails in the name of `what` when it comes to nothing: the run ends a test that waits for
 * ever much later, and cannot say what it waited for.
 */
export async function inPatience<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come about`)), NAMED_AFTER_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
