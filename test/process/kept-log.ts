import type { Log } from "../../src/base/log.ts";

export interface KeptLog extends Log {
  /** Names of the events, in order. */
  readonly events: readonly string[];
  /** The whole log as one text, to search for what must not be there. */
  text(): string;
}

export function keptLog(): KeptLog {
  const events: string[] = [];
  const lines: string[] = [];
  const keep = (event: string, ...more: readonly unknown[]): void => {
    events.push(event);
    lines.push(
      [
        event,
        ...more.map((each) => (each instanceof Error ? each.stack : JSON.stringify(each))),
      ].join(" "),
    );
  };
  return { events, info: keep, warn: keep, error: keep, text: () => lines.join("\n") };
}
