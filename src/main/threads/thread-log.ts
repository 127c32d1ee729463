import type { Log } from "../../base/log.ts";

/** A line of a thread's log on its way to the thread that writes it. */
export interface LogMessage {
  readonly kind: "log";
  readonly level: keyof Log;
  readonly event: string;
  readonly fault?: unknown;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Sends every line elsewhere. */
export function sendingLog(send: (message: LogMessage) => void): Log {
  const kind = "log";
  return {
    info: (event, fields = {}) => send({ kind, level: "info", event, fields }),
    warn: (event, fields = {}) => send({ kind, level: "warn", event, fields }),
    error: (event, fault, fields = {}) => send({ kind, level: "error", event, fault, fields }),
  };
}

/** Writes a line that a thread sent. */
export function writeLine(log: Log, { level, event, fault, fields }: LogMessage): void {
  if (level === "error") log.error(event, fault, fields);
  else log[level](event, fields);
}
