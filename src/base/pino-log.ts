import { Buffer } from "node:buffer";
import { write, writeSync } from "node:fs";
import { pino, type DestinationStream, type Level } from "pino";
import { type Clock, systemClock } from "./clock.ts";
import type { Log } from "./log.ts";
import { storeDownOf } from "./store-down.ts";

export type LogLevel = Level | "silent";

const SECRET_NAMES = [
  "authorization",
  "cookie",
  "password",
  "secret",
  "token",
  "apiKey",
  "api_key",
  "x-api-key",
];

/** JSON lines on standard output, or another target. Anything that looks like a key or a secret is redacted. */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_NAMES.flatMap((name) => [`["${name}"]`, `*["${name}"]`]),
        censor: HIDDEN,
      },
      hooks: { streamWrite: blacken },
    },
    destination ?? openStandardLines(),
  );
  return {
    info: (event, fields) => logger.info(fields, event),
    warn: (event, fields) => logger.warn(fields, event),
    error: (event, fault, fields) => logger.error({ ...fields, fault: describe(fault) }, event),
  };
}

const CAUSES_MAX = 8;

/** Where in the program a store was found to be away says nothing, and is said every second while it is. */
function describe(
  fault: unknown,
  hasStack: boolean = storeDownOf(fault) === undefined,
  depth: number = CAUSES_MAX,
): object {
  if (!(fault instanceof Error)) return { type: typeof fault, message: String(fault) };
  const { name, message, stack, cause } = fault;
  const isEnd = cause === undefined || depth === 0;
  return {
    type: name,
    message,
    code: "code" in fault ? fault.code : undefined,
    stack: hasStack ? stack : undefined,
    cause: isEnd ? undefined : describe(cause, hasStack, depth - 1),
  };
}

const HIDDEN = "[hidden]";

/** Hides our keys, bearer values, long hexadecimal secrets, passwords in URLs, and local parts of addresses. */
function blacken(line: string): string {
  return line
    .replace(/gp_live_[A-Za-z0-9_-]+/g, HIDDEN)
    .replace(/\b(bearer|basic) +[^\s"\\]+/gi, `$1 ${HIDDEN}`)
    .replace(/\b[0-9a-f]{64}\b/gi, HIDDEN)
    .replace(/:\/\/[^\s"/@]{1,256}@/g, `://${HIDDEN}@`)
    .replace(/[^\s"'<>()[\],:;=/\\@]{1,64}@/g, "***@");
}

export interface LineSink {
  write(bytes: Buffer, done: (fault: Error | null, taken: number) => void): void;
  writeNow(bytes: Buffer): number;
  pause(): void;
}

/** Octets of log that wait for a slow reader. Lines beyond them are lost, and counted. */
const WAITING_BYTES_MAX = 4 * 1_048_576;

const RETRY_MS = 100;

const LAST_WORDS_MS = 1_000;

/** A slow or missing reader never blocks or ends the process: it costs lines only, and how many is said later. */
export class LogLines {
  readonly #sink: LineSink;
  readonly #clock: Clock;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #rest: Buffer = Buffer.alloc(0);
  #isUnderWay = false;
  #lost = 0;

  constructor(sink: LineSink, clock: Clock) {
    this.#sink = sink;
    this.#clock = clock;
  }

  /** Takes one line, its line feed included. Never throws. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#waitingBytes + bytes > WAITING_BYTES_MAX) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += bytes;
    if (this.#rest.length === 0) this.#next();
  }

  /** Writes the waiting lines before the process ends; gives up when the reader takes nothing for a second. */
  writeLastWords(): void {
    // What is under way may be taken yet: it would stand there twice.
    let rest = Buffer.concat([this.#isUnderWay ? Buffer.alloc(0) : this.#rest, this.#take()]);
    const endMs = this.#clock.monotonicMs() + LAST_WORDS_MS;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(this.#sink.writeNow(rest));
      } catch (fault) {
        if (!isFull(fault) || this.#clock.monotonicMs() >= endMs) return;
        this.#sink.pause();
      }
    }
  }

  #next(): void {
    this.#rest = this.#take();
    if (this.#rest.length > 0) this.#send();
  }

  #take(): Buffer {
    const bytes = Buffer.from(this.#waiting.join(""));
    this.#waiting = [];
    this.#waitingBytes = 0;
    return bytes;
  }

  #send(): void {
    this.#isUnderWay = true;
    this.#sink.write(this.#rest, (fault, taken) => {
      this.#isUnderWay = false;
      if (fault !== null) {
        // The cause may pass: the disk gets room, or the reader continues.
        this.#clock.after(RETRY_MS, () => this.#send());
        return;
      }
      this.#rest = this.#rest.subarray(taken);
      if (this.#rest.length > 0) this.#send();
      else this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#lost > 0) {
      const time = new Date(this.#clock.nowMs()).toISOString();
      const line = { level: "warn", time, lines: this.#lost, msg: "log.lines_lost" };
      this.#lost = 0;
      this.#waiting.push(`${JSON.stringify(line)}\n`);
    }
    this.#next();
  }
}

const isFull = (fault: unknown): boolean =>
  fault instanceof Error && "code" in fault && fault.code === "EAGAIN";

const PAUSE_MS = 10;

const standardOutput: LineSink = {
  // Its number is asked of Node each time: at the first Node makes a pipe one that never holds up its writer.
  write: (bytes, done) => write(process.stdout.fd, bytes, done),
  writeNow: (bytes) => writeSync(process.stdout.fd, bytes),
  pause: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS),
};

let standardLines: LogLines | undefined;

function openStandardLines(): LogLines {
  if (standardLines === undefined) {
    const lines = new LogLines(standardOutput, systemClock);
    process.once("exit", () => lines.writeLastWords());
    standardLines = lines;
  }
  return standardLines;
}
