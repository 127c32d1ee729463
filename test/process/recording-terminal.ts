import type { Terminal } from "../../src/cli/terminal.ts";

export interface RecordingTerminal extends Terminal {
  /** All standard output. */
  readonly written: () => string;
  /** All standard error. */
  readonly complained: () => string;
}

/** A terminal that records; without colours, 80 columns, not interactive. */
export function recordingTerminal(): RecordingTerminal {
  const out: string[] = [];
  const err: string[] = [];
  return {
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    colours: false,
    interactive: false,
    columns: 80,
    written: () => out.join(""),
    complained: () => err.join(""),
  };
}
