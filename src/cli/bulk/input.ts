import type { FileFacts, Files } from "../../base/files.ts";
import { wordsOf } from "../fault-words.ts";
import { CommandFailure, EXIT } from "../terminal.ts";

/** An opened input. */
export interface Input {
  readonly path: string;
  /** Absent for standard input. */
  readonly facts: FileFacts | undefined;
  /** Begins with a byte order mark; known once something was read. */
  readonly mark: () => boolean;
  readonly slices: AsyncIterable<Uint8Array>;
  readonly readBytes: () => number;
}

/** Opens a file, or standard input. */
export async function openInput(path: string, files: Files, stop: AbortSignal): Promise<Input> {
  const facts = await files.stat(path);
  if (path !== "-" && facts === undefined) {
    throw new CommandFailure(EXIT.failed, wordsOf({ code: "ENOENT", path }));
  }
  let readBytes = 0;
  let mark = false;
  const note = (slice: Uint8Array): void => {
    if (readBytes === 0) mark = hasMark(slice);
    readBytes += slice.length;
  };
  const slices = noted(files.read(path, stop), note);
  return { path, facts, mark: () => mark, slices, readBytes: () => readBytes };
}

/** UTF-8's or UTF-16's. */
const hasMark = ([a, b, c]: Uint8Array): boolean =>
  (a === 0xef && b === 0xbb && c === 0xbf) ||
  (a === 0xff && b === 0xfe) ||
  (a === 0xfe && b === 0xff);

async function* noted(
  slices: AsyncIterable<Uint8Array>,
  note: (slice: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const slice of slices) {
    note(slice);
    yield slice;
  }
}

/** How much of a file was read; undefined for standard input. */
export function shareOf({ facts, readBytes }: Input): number | undefined {
  if (facts === undefined) return undefined;
  return facts.sizeBytes === 0 ? 1 : Math.min(1, readBytes() / facts.sizeBytes);
}
