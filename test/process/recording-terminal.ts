import type { Terminal } from "../../src/cli/terminal.ts";

export interface RecordingTerminal extends Terminal {
  /** All standard output. */
  readonly written: () => string;
  /** All standard error. */
  readonly complained: () => string;
}

/** A terminal that records; without colours, 80 columns, not interactive, without input. */
export function recordingTerminal(given: Partial<Terminal> = {}): RecordingTerminal {
  const out: string[] = [];
  const err: string[] = [];
  return {
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    colours: false,
    interactive: false,
    columns: 80,
    readInput: () => Promise.resolve(""),
    readText: () => Promise.resolve(""),
    confirm: () => Promise.reject(new Error("unexpected question")),
    ...given,
    written: () => out.join(""),
    complained: () => err.join(""),
  };
}
