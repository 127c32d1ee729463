import { connect } from "node:net";
import type { Answered } from "./strict-client.ts";

/** A test fails when an answer takes longer. */
const PATIENCE_MS = 60_000;

export interface RawClient {
  /** Sends bytes unchanged; text is sent as Latin-1, one byte a character. */
  write(bytes: string | Buffer): void;
  /** The next answer on the connection; rejects when it closes before the answer is complete. */
  answer(options?: { readonly head?: boolean }): Promise<Answered>;
  /** Resolves when the connection is closed, with the error if there was one. */
  readonly closed: Promise<Error | undefined>;
  /** Stops reading. */
  pause(): void;
  resume(): void;
  end(): void;
  destroy(): void;
}

/** A raw connection: nothing is repaired, added or encoded. */
export function rawClient(port: number, localAddress = "127.0.0.1"): RawClient {
  const socket = connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen: true });
  let received = Buffer.alloc(0);
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((look) => look());
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  const closed = new Promise<Error | undefined>((resolve) => {
    let broken: Error | undefined;
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      wake();
      resolve(broken);
    });
    socket.on("error", (error) => (broken = error));
  });
  return {
    closed,
    write: (bytes) =>
      void socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    answer: ({ head = false } = {}) =>
      new Promise((resolve, reject) => {
        const settle = (): void => {
          clearTimeout(limit);
          waiting.delete(look);
        };
        const look = (): void => {
          const parsed = parseAnswer(received, head);
          if (parsed !== undefined) {
            settle();
            received = received.subarray(parsed.length);
            resolve(parsed.answer);
          } else if (socket.destroyed) {
            settle();
            reject(new Error(`closed after ${JSON.stringify(received.toString("latin1"))}`));
          }
        };
        const limit = setTimeout(() => {
          settle();
          reject(new Error(`no answer in ${PATIENCE_MS} ms`));
        }, PATIENCE_MS);
        waiting.add(look);
        look();
      }),
  };
}

interface Parsed {
  readonly answer: Answered;
  readonly length: number;
}

function parseAnswer(bytes: Buffer, head: boolean): Parsed | undefined {
  const text = bytes.toString("latin1");
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [statusLine = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (status === 100) {
    const rest = parseAnswer(bytes.subarray(headEnd + 4), head);
    return rest && { answer: rest.answer, length: rest.length + headEnd + 4 };
  }
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const size = head ? 0 : Number(headers["content-length"] ?? 0);
  const start = headEnd + 4;
  if (bytes.length < start + size) return undefined;
  const body = bytes.toString("utf8", start, start + size);
  return { answer: { status, headers, body }, length: start + size };
}

/** Sends one request on a new connection and reads one answer. */
export async function askRaw(
  port: number,
  bytes: string | Buffer,
  options: { readonly head?: boolean } = {},
): Promise<Answered> {
  const client = rawClient(port);
  client.write(bytes);
  try {
    return await client.answer(options);
  } finally {
    client.destroy();
  }
}
