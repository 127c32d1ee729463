import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import type { Readable } from "node:stream";

const SLICE_BYTES = 65_536;

/** Files for the command line. A path is as the user wrote it; "-" is standard input or output. */
export const systemFiles = {
  /** Yields slices of at most 64 KiB, no faster than they are taken, and ends early when `stop` is aborted. */
  read(path: string, stop: AbortSignal): AsyncIterable<Uint8Array> {
    const stream =
      path === "-" ? process.stdin : createReadStream(path, { highWaterMark: SLICE_BYTES });
    return slices(path, stream, stop);
  },
  /** A file that exists is a fault unless it may be `replaced`; devices and pipes are written to. */
  write: (path: string, existing: "refused" | "replaced"): Promise<FileWriter> =>
    path === "-" ? Promise.resolve(standardOutput()) : fileWriter(path, existing),
  stat: (path: string): Promise<FileFacts | undefined> =>
    path === "-" ? Promise.resolve(undefined) : factsOf(path),
};

export type Files = typeof systemFiles;

async function* slices(
  path: string,
  stream: Readable,
  stop: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const leave = (): void => void stream.destroy();
  stop.addEventListener("abort", leave, { once: true });
  if (stop.aborted) leave();
  try {
    for await (const slice of stream as AsyncIterable<Uint8Array>) yield slice;
  } catch (error) {
    if (!stop.aborted) throw faultAt(path, error);
  } finally {
    stop.removeEventListener("abort", leave);
  }
}

const faultAt = (path: string, error: unknown): unknown =>
  error instanceof Error ? Object.assign(error, { path }) : error;

async function factsOf(path: string): Promise<FileFacts | undefined> {
  try {
    const facts = await stat(path);
    const { dev, ino, size } = facts;
    return { id: `${String(dev)}:${String(ino)}`, sizeBytes: size, isFile: facts.isFile() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function fileWriter(path: string, existing: "refused" | "replaced"): Promise<FileWriter> {
  const facts = await factsOf(path);
  const isNew = facts === undefined || (facts.isFile && existing === "refused");
  const handle = await open(path, isNew ? "wx" : "w");
  return {
    async write(text) {
      try {
        await handle.appendFile(text);
      } catch (error) {
        throw faultAt(path, error);
      }
    },
    close: () => handle.close(),
  };
}

function standardOutput(): FileWriter {
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => {
          if (error == null) resolve();
          else reject(faultAt("standard output", error));
        });
      }),
    close: () => Promise.resolve(),
  };
}

export interface FileFacts {
  readonly id: string;
  readonly sizeBytes: number;
  readonly isFile: boolean;
}

export interface FileWriter {
  write(text: string | Uint8Array): Promise<void>;
  close(): Promise<void>;
}
