import { pino, type DestinationStream, type Level } from "pino";
import { isoTime } from "../core/calendar.ts";
import { systemClock } from "./clock.ts";
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
    destination ?? openStandardOutput(),
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

/** Octets of log that wait for a slow reader. Lines beyond them are lost, and counted. */
const WAITING_OCTETS_MAX = 4 * 1_048_576;

/** Each takes 0.1 s. */
const LAST_TRIES = 10;

let standardOutput: DestinationStream | undefined;

/** A slow or missing reader never blocks or ends the process: it costs lines only, and how many is said later. */
function openStandardOutput(): DestinationStream {
  if (standardOutput !== undefined) return standardOutput;
  let tries = Infinity;
  process.once("exit", () => (tries = LAST_TRIES));
  const output = pino.destination({
    dest: process.stdout.fd, // asked of Node, which makes a pipe one that never holds up its writer
    sync: false,
    maxLength: WAITING_OCTETS_MAX,
    retryEAGAIN: () => (tries -= 1) >= 0,
  });
  let lines = 0;
  output.on("drop", () => (lines += 1));
  output.on("drain", () => {
    if (lines === 0) return;
    const lost = {
      level: "warn",
      time: isoTime(systemClock.nowMs()),
      lines,
      msg: "log.lines_lost",
    };
    lines = 0;
    output.write(`${JSON.stringify(lost)}\n`);
  });
  output.on("error", () => undefined); // the cause may pass: a full disk gets room
  const flush = output.flushSync.bind(output);
  output.flushSync = () => {
    try {
      flush();
    } catch {
      // the process ends, and nobody takes its last words
    }
  };
  return (standardOutput = output);
}
