/** An event is named by its area and what happened: "bulk.claim_failed". Values never hold an address, key or secret. */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  error(event: string, fault: unknown, fields?: Readonly<Record<string, unknown>>): void;
}
