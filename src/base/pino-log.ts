import { pino, type DestinationStream, type Level } from "pino";
import type { Log } from "./log.ts";
import { storeDownOf } from "./store-down.ts";
import { openStandardLines } from "./log-lines.ts";

/** LOG_LEVEL; "silent" writes nothing. */
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
