import type { Awaitable } from "./mail/lookup.ts";

/**
 * Continues with a value at once, and with a promise when it settles: most requests then need no promise.
 * `late` changes the promise first, for example to give it a deadline.
 */
export function when<T, U>(
  value: Awaitable<T>,
  step: (value: T) => Awaitable<U>,
  late: (promise: Promise<T>) => Promise<T> = (promise) => promise,
): Awaitable<U> {
  return value instanceof Promise ? late(value).then(step) : step(value);
}
