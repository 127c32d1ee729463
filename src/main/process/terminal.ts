import { createReadStream } from "node:fs";
import { userInfo } from "node:os";
import { createInterface } from "node:readline/promises";
import { EXIT, type Terminal, wordsOf } from "../../cli/terminal.ts";

const NARROWEST_COLUMNS = 40;

/** The process's own standard output and error. */
export function systemTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  stdout.on("error", leaveUnwritten);
  stderr.on("error", () => undefined); // nowhere is left to say so; the exit code does
  const noColour = env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "";
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    colours: stdout.isTTY && !noColour,
    interactive: stderr.isTTY,
    columns: Math.max(stderr.columns ?? 80, NARROWEST_COLUMNS),
  };
}

/** A reader that has what it wants (`gatepost ... | head`) is fine; otherwise the answer is lost. */
function leaveUnwritten(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(EXIT.fine);
  process.stderr.write(`gatepost: ${wordsOf({ ...error, path: "standard output" })}\n`);
  process.exit(EXIT.failed);
}

/** A write that failed is reported with the next turn of the event loop, before the process may end. */
export const outputWritten = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The name of the system's user who types; its number where the system has no name for it, as in containers. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${String(process.getuid?.() ?? 0)}`;
  }
}

/** Limit for passwords and similar input. */
const INPUT_MAX_BYTES = 16_384;

/** Standard input to its end; one line feed at its end is cut off. Throws when it is longer than 16 KB. */
export async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > INPUT_MAX_BYTES) throw new Error("standard input is longer than 16 KB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

/** The largest list that a person imports. */
const TEXT_MAX_BYTES = 67_108_864;

/** A file's text, or standard input's for "-". Throws with a sentence when it cannot be read or is too large. */
export async function readText(path: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const source = path === "-" ? process.stdin : createReadStream(path);
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > TEXT_MAX_BYTES) throw new Error(`${path}: it is larger than 64 MB`);
      chunks.push(chunk);
    }
  } catch (cause) {
    const why = wordsOf(cause instanceof Error ? Object.assign(cause, { path }) : cause);
    throw new Error(`cannot read ${why}`, { cause });
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Asks a person; only "y" or "yes" means yes. */
export async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
