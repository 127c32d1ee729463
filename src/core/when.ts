import type { Awaitable } from "./mail/lookup.ts";

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 as in RFC 1952 section 8; `sum` is that of the octets before. */
export function crc32(octets: Uint8Array, sum = 0): number {
  let value = sum ^ 0xffffffff;
  for (const octet of octets) value = (TABLE[(value ^ octet) & 0xff] ?? 0) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

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
