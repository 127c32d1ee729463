import { DiskFull, StoreDown } from "../base/store-down.ts";
import { DatabaseFault, type DatabaseFaultCode } from "./database-fault.ts";

/** The five characters of PostgreSQL's own errors (its manual, appendix A); undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const { code } = error;
  // The system's codes, such as EPIPE, may have five letters too: none of ours begins with "E".
  return typeof code === "string" && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

/** The server answers no query: connection, resources, shut-down, system errors, idle in transaction, read-only. */
const SERVER_DOWN = /^(?:08|53|57P|58|25P0[34]$|25006$)/;

/** Cancelled for taking too long (57014), or waited for a lock too long (55P03). The session lives on. */
const TOO_SLOW = /^(?:57014|55P03)$/;

/** Deadlock, or a conflict that only another try can settle: the server has undone the whole transaction. */
const TRY_AGAIN = /^(?:40001|40P01)$/;

export const isTryAgain = (error: unknown): boolean => TRY_AGAIN.test(sqlState(error) ?? "");

/** Another transaction has a row or a name for longer than the sessions wait, or two wait for each other. */
export const isContended = (fault: unknown): boolean =>
  /^(?:55P03|40P01)$/.test(sqlState(fault instanceof StoreDown ? fault.cause : fault) ?? "");

/** Every session is taken for longer than a request waits for one; the pool's own words, as it gives no code. */
export const isCrowded = (fault: unknown): boolean =>
  fault instanceof StoreDown &&
  fault.cause instanceof Error &&
  fault.cause.message === "timeout exceeded when trying to connect";

export function isSessionLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined ? !(error instanceof TypeError) : SERVER_DOWN.test(state);
}

/** What the driver threw. Its errors carry whole clients with them, so of what means "down" only the words go on. */
export function queryFault(error: unknown): unknown {
  const state = sqlState(error);
  const isDown = isSessionLost(error) || (state !== undefined && TOO_SLOW.test(state));
  return isDown ? storeDown(error) : error;
}

export function storeDown(error: unknown): StoreDown {
  const cause = { cause: bare(error) };
  return sqlState(error) === "53100"
    ? new DiskFull(cause)
    : new StoreDown("PostgreSQL does not serve", cause);
}

function bare(error: unknown): Error {
  const made = new Error(error instanceof Error ? error.message : String(error));
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? Object.assign(made, { code }) : made;
}

const OPENING_WORDS: readonly (readonly [RegExp, DatabaseFaultCode, string])[] = [
  [
    /no encryption|SSL off/,
    "denied",
    "it lets nobody in without TLS: add sslmode=verify-full to DATABASE_URL",
  ],
  [
    /does not support SSL/,
    "denied",
    "it offers no TLS, which sslmode in DATABASE_URL demands: switch TLS on there, or say sslmode=disable",
  ],
  [
    /certificate|self[- ]signed/i,
    "denied",
    "TLS: its certificate is not trusted; name the file of its authority in DATABASE_URL (sslrootcert=), and the host as the certificate has it",
  ],
  [
    /unsupported startup parameter|transaction blocks not allowed/,
    "unusable",
    "a connection pooler is between that takes no settings of a session: connect directly, or see docs/operations/troubleshooting.md#pooler",
  ],
];

const OPENING: readonly (readonly [RegExp, DatabaseFaultCode, string])[] = [
  [/^28/, "denied", "it does not let this user in"],
  [/^3D000$/, "no_database", "there is no such database"],
  [/^42501$/, "denied", "this user may not make tables there"],
  [/^25006$/, "unwritable", "it is read-only"],
  [/^53300$/, "unreachable", "it has no connection to spare"],
  [/^53100$/, "full", "its disk is full"],
  [/^57P03$/, "unreachable", "it is starting up or shutting down"],
];

const WORDS_MAX = 200;

/** What failed and why, in one line: a certificate, a name, a pooler's refusal. The driver's messages hold no values. */
function wordsOf(error: unknown): string {
  const words: string[] = [];
  for (let one = error; one instanceof Error && words.length < 3; one = one.cause) {
    // Several addresses of one host that all refuse have a code and no message.
    words.push(one.message || ("code" in one ? String(one.code) : one.name));
  }
  return (words.join(": ") || String(error)).replaceAll(/\s+/g, " ").slice(0, WORDS_MAX);
}

/** A sentence that tells the operator why the database at `place` cannot be opened; never with a password. */
export function openingFault(place: string, error: unknown): DatabaseFault {
  if (error instanceof DatabaseFault) return error;
  const origin = error instanceof StoreDown ? error.cause : error;
  const state = sqlState(origin);
  const why = wordsOf(origin);
  const known =
    OPENING_WORDS.find(([pattern]) => pattern.test(why)) ??
    OPENING.find(([pattern]) => state !== undefined && pattern.test(state));
  const isDown = error instanceof StoreDown;
  const [, code, sentence] = known ?? [
    undefined,
    isDown ? "unreachable" : "unusable",
    `${isDown ? "it does not answer" : "it cannot be used"} (${why})`,
  ];
  const more = known !== undefined && OPENING_WORDS.includes(known) ? ` (${why})` : "";
  const options = { cause: state !== undefined || isDown ? bare(origin) : origin };
  return new DatabaseFault(code, `PostgreSQL ${place}: ${sentence}${more}`, options);
}
