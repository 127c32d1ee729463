import { createReadStream, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { setFlagsFromString } from "node:v8";
import { systemClock as clock } from "../base/clock.ts";
import { type DatabaseUse, EXIT, type Terminal, wordsOf } from "../cli/terminal.ts";
import { DATABASE_FILE } from "../store/embedded/sqlite.ts";
import { openProcess, type Process } from "./process.ts";
import type { Config } from "./settings/config.ts";

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
    columns: Math.max(stderr.columns ?? 80, 40),
    readInput,
    readText,
    confirm,
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

async function readInput(): Promise<string> {
  const text = await readAll(process.stdin, 16_384, "standard input is longer than 16 KB");
  return text.replace(/\r?\n$/, "");
}

async function readAll(source: NodeJS.ReadableStream, maxBytes: number, tooLong: string) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(tooLong);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function readText(path: string): Promise<string> {
  const source = path === "-" ? process.stdin : createReadStream(path);
  try {
    return await readAll(source, 67_108_864, `${path}: it is larger than 64 MB`);
  } catch (cause) {
    const why = wordsOf(cause instanceof Error ? Object.assign(cause, { path }) : cause);
    throw new Error(`cannot read ${why}`, { cause });
  }
}

async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}

/** What stops a process, and how it leaves where it does not wait. SIGHUP: its terminal was closed. */
const STOPPING = [
  ["SIGTERM", () => process.exit(143)],
  ["SIGINT", () => process.exit(130)],
  ["SIGHUP", () => process.exit(129)],
] as const;

/** From now on a signal to stop ends the process at once. Without a handler process 1 of a container ignores the signal. */
export function leaveWhenAsked(): void {
  for (const [signal, leave] of STOPPING) process.once(signal, leave);
}

/** Resolves with the first signal to stop. A second one does not wait for what stops then. */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const [signal, leave] of STOPPING)
      process.once(signal, () => resolve()).off(signal, leave);
  });
  leaveWhenAsked();
}

/** For a process that has stopped everything: a reader of its output that stands still does not keep it. */
export function leaveSoon(): void {
  clock.after(1_000, () => process.exit());
}

type PlaceConfig = Pick<Config, "dataDir" | "databaseUrl">;

export const hasDatabase = ({ dataDir, databaseUrl }: PlaceConfig): boolean =>
  databaseUrl !== undefined || existsSync(join(dataDir, DATABASE_FILE));

const ELSEWHERE =
  "A server that was started in another folder keeps its data there: run the command there, or set GATEPOST_DATA_DIR.\n";

export const missingWords = ({ dataDir }: PlaceConfig): string =>
  `No database in ${resolve(dataDir)}. ${ELSEWHERE}`;

const createdWords = ({ dataDir }: PlaceConfig): string =>
  `Creating a database in ${resolve(dataDir)}. ${ELSEWHERE}`;

/** A command that only reads gets an empty database where there is none, removed at its end. */
export function openStored<T extends object>(
  config: Config,
  { terminal, use }: { readonly terminal: Pick<Terminal, "err">; readonly use: DatabaseUse },
  open: (process: Process) => Promise<T>,
): Promise<T & { readonly close: () => Promise<void> }> {
  if (hasDatabase(config)) return openProcess(config, { log: "silent" }, open);
  terminal.err(use === "may_create" ? createdWords(config) : missingWords(config));
  if (use === "may_create") return openProcess(config, { log: "silent" }, open);
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-empty-"));
  return openProcess({ ...config, dataDir }, { log: "silent" }, (process) => {
    process.closing.add(() => rmSync(dataDir, { recursive: true, force: true }));
    return open(process);
  });
}

/** By default V8's heap grows threefold before it collects, to four times what the caches need. */
export function limitHeapGrowth(): void {
  setFlagsFromString("--heap-growing-percent=50");
}
