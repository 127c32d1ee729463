/** Bodies of single checks, kept while every DNS answer behind them may be reused. Losing one costs time only. */
export interface AnswerCache {
  /** Undefined when there is none, or when it has expired at `nowMs`. */
  read(key: string, nowMs: number): string | undefined;
  /** Replaces. `expiresAtMs` is milliseconds since the Unix epoch. */
  keep(key: string, body: string, expiresAtMs: number): void;
  /** Forgets everything: what is known of domains has changed. */
  clear(): void;
}
