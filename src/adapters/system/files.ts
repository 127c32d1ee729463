import { createReadStream } from "node:fs";
import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { FileFacts, Files, FileWriter } from "../../ports/process/files.ts";

const SLICE_BYTES = 65_536;

/** The files of this machine, and the process's own standard input and output. */
export const systemFiles: Files = {
  read(path, stop) {
    const stream =
      path === "-" ? process.stdin : createReadStream(path, { highWaterMark: SLICE_BYTES });
    return slices(stream, stop);
  },
  write: (path, keepBytes) =>
    path === "-" ? Promise.resolve(standardOutput()) : fileWriter(path, keepBytes),
  stat: (path) => (path === "-" ? Promise.resolve(undefined) : factsOf(path)),
  readText: (path) => orUndefined(readFile(path, "utf8")),
  async replaceText(path, text) {
    const next = `${path}.new`;
    await writeFile(next, text);
    await rename(next, path);
  },
  remove: (path) => rm(path, { force: true }),
};

async function* slices(stream: Readable, stop: AbortSignal): AsyncGenerator<Uint8Array> {
  const leave = (): void => void stream.destroy();
  stop.addEventListener("abort", leave, { once: true });
  if (stop.aborted) leave();
  try {
    for await (const slice of stream as AsyncIterable<Uint8Array>) yield slice;
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    stop.removeEventListener("abort", leave);
  }
}

async function factsOf(path: string): Promise<FileFacts | undefined> {
  const facts = await orUndefined(stat(path));
  if (facts === undefined) return undefined;
  const { dev, ino, size, mtimeMs } = facts;
  return { id: `${String(dev)}:${String(ino)}`, sizeBytes: size, modifiedMs: mtimeMs };
}

async function orUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function fileWriter(path: string, keepBytes: number): Promise<FileWriter> {
  const handle = await open(path, keepBytes > 0 ? "r+" : "w");
  await handle.truncate(keepBytes);
  let position = keepBytes;
  return {
    async write(text) {
      const bytes = Buffer.from(text, "utf8");
      for (let at = 0; at < bytes.length;) {
        const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, position);
        at += bytesWritten;
        position += bytesWritten;
      }
      return bytes.length;
    },
    sync: () => handle.datasync(),
    close: () => handle.close(),
  };
}

function standardOutput(): FileWriter {
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        // The callback reports a closed reader; without a listener the event would end the process.
        process.stdout.once("error", reject);
        process.stdout.write(text, (error) => {
          process.stdout.off("error", reject);
          if (error == null) resolve(Buffer.byteLength(text));
          else reject(error);
        });
      }),
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
