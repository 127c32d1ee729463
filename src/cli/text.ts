const DRIVES_TERMINAL = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** Typed text without control characters, which would change the terminal. */
export const shown = (text: string): string =>
  text.slice(0, 300).replace(DRIVES_TERMINAL, "\ufffd");

/** Lines that repeat input, such as a file name from elsewhere: their control characters must not reach the terminal. */
export const harmless = (lines: string): string =>
  lines.replace(DRIVES_TERMINAL, (mark) => (mark === "\n" ? mark : "\ufffd"));

/** Rows under their headings, in columns of the width they need. Ends with a line feed. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, at) => Math.max(...all.map((row) => (row[at] ?? "").length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return `${all.map(line).join("\n")}\n`;
}

/** What `--json` prints: one value in one line. */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`;
