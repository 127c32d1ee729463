const WHOLE = new Intl.NumberFormat("en-US");

/** "12,480". */
export const count = (value: number): string => WHOLE.format(value);

/** "1 check", "12,480 checks". */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** "143 ms", "1.2 s", "10 s". */
export const duration = (ms: number): string =>
  ms < 1_000 ? `${count(Math.round(ms))} ms` : `${count(Math.round(ms / 100) / 10)} s`;

/** "no limit" for null. */
export const limitText = (value: number | null): string =>
  value === null ? "no limit" : count(value);
