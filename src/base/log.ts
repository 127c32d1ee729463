/**
 * Structured log. An event is named by its area and what happened: "bulk.claim_failed". Values never hold an
 * address in clear, a key or a secret.
 */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  /** `fault` is logged with its stack and causes. */
  error(event: string, fault: unknown, fields?: Readonly<Record<string, unknown>>): void;
}
