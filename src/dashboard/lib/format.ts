import { count } from "../app/numbers.ts";

export { nowMs, relativeTime, timeMs } from "../app/clock.ts";
export { plural } from "../app/i18n.ts";
export { count, percent } from "../app/numbers.ts";

/** "1 check", "12,480 checks"; `many` for a plural that is more than an "s". */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
