import type { UnknownReason, Until } from "../core/mail/lookup.ts";
import type { OwnerKey } from "../base/owner.ts";
import type { Listener, Seat } from "./transport/udp.ts";
import {
  decodeResponse,
  encodeQuery,
  interpret,
  type Question,
  RCODE,
  type Reply,
} from "./message/wire.ts";

export type MessageReading = "complete" | "truncated" | "noEdns" | UnknownReason;

/** A server says so of a question with EDNS that it cannot read (RFC 6891 sections 6.1.3 and 7). */
const WITHOUT_EDNS: ReadonlySet<number> = new Set([RCODE.formErr, RCODE.notImp, RCODE.badVers]);

/** Why the question is unknown after this answer by TCP; undefined: it is answered. What asks for another way is malformed now. */
export function byTcp(reading: MessageReading): UnknownReason | undefined {
  if (reading === "complete") return undefined;
  return reading === "truncated" || reading === "noEdns" ? "malformed" : reading;
}

export interface PendingQuestion<T> extends Question<T> {
  readonly by?: OwnerKey | undefined;
  readonly until?: Until | undefined;
}

export type Done<T> = (reply: Reply<T>, spentMs: number) => void;

/** The reply until one is read. It holds for a name that cannot be asked for: such a name cannot exist. */
const NO_SUCH_NAME = { kind: "absent", why: "noName", ttlSeconds: undefined } as const;

export class Query {
  readonly askedAtMs: number;
  readonly by: OwnerKey | undefined;
  readonly until: Until | undefined;
  /** When its 5 s began: as it was asked, or in bulk at the first try. */
  startedAtMs: number;
  edns = true;
  isEdnsDoubted = false;
  server = 0;
  sends = 0;
  isQueued = false;
  isRedirected = false;
  isTruncated = false;
  isByTcp = false;
  isFinished = false;
  why: UnknownReason = "timeout";
  latest: Attempt | undefined;
  readonly #question: Question<unknown>;
  readonly #done: Done<unknown>;
  #reply: Reply<unknown> = NO_SUCH_NAME;

  constructor(question: PendingQuestion<unknown>, askedAtMs: number, done: Done<unknown>) {
    this.by = question.by;
    this.until = question.until;
    this.askedAtMs = askedAtMs;
    this.startedAtMs = askedAtMs;
    this.#question = question;
    this.#done = done;
  }

  /** Nobody waits for it any more: nothing is sent for it, and an answer that still comes is kept. */
  get isUnwanted(): boolean {
    return this.until?.isPast === true;
  }

  encode(): Uint8Array | undefined {
    return encodeQuery(this.#question, this);
  }

  read(message: Uint8Array): MessageReading {
    const response = decodeResponse(message, this.#question);
    if (response === undefined) return "malformed";
    if (response.truncated) return "truncated";
    if (WITHOUT_EDNS.has(response.rcode)) return "noEdns";
    const reply = interpret(this.#question, response);
    if (reply.kind === "unknown") return reply.why;
    this.#reply = reply;
    return "complete";
  }

  /** Passes the reply to the asker: `unknown` with this reason or, without one, the reply that was read. */
  finish(why: UnknownReason | undefined, spentMs: number): void {
    this.#done(why === undefined ? this.#reply : { kind: "unknown", why }, spentMs);
  }
}

export interface AttemptEvents {
  answered(attempt: Attempt, message: Uint8Array): void;
  failed(attempt: Attempt): void;
}

export class Attempt implements Listener {
  readonly earlier: Attempt | undefined;
  isTimed = true;
  readonly query: Query;
  readonly packet: Uint8Array;
  readonly server: number;
  readonly number: number;
  readonly sentAtMs: number;
  readonly epoch: number;
  seat: Seat | undefined;
  isSent = true;
  hasPlace = true;
  readonly #events: AttemptEvents;

  constructor(query: Query, packet: Uint8Array, { sentAtMs, epoch, events }: AttemptTerms) {
    this.query = query;
    this.earlier = query.latest;
    this.packet = packet;
    this.server = query.server;
    this.number = query.sends;
    this.sentAtMs = sentAtMs;
    this.epoch = epoch;
    this.#events = events;
  }

  answered(message: Uint8Array): void {
    this.#events.answered(this, message);
  }

  failed(): void {
    this.#events.failed(this);
  }

  get hasEdns(): boolean {
    return this.packet[11] === 1;
  }
}

interface AttemptTerms {
  readonly sentAtMs: number;
  readonly epoch: number;
  readonly events: AttemptEvents;
}

export const NO_COUNTS = {
  queries: 0,
  retries: 0,
  recovered: 0,
  lateAnswers: 0,
  strays: 0,
  truncated: 0,
  /** Grows while and after servers answered nothing that was sent for 2 s, not even the question for the root. */
  silentMs: 0,
};

export interface ResolverStats extends Readonly<typeof NO_COUNTS> {
  readonly unknown: Readonly<Record<UnknownReason, number>>;
  readonly window: number;
  readonly underWay: number;
  readonly unsettled: number;
  /** Servers that are asked by TCP, because their UDP is silent. */
  readonly tcpAlone: number;
}

export const noUnknown = (): Record<UnknownReason, number> => ({
  timeout: 0,
  servfail: 0,
  refused: 0,
  malformed: 0,
  network: 0,
  deadline: 0,
  suspect: 0,
  filtered: 0,
});

/** Single checks answer a person, bulk can wait, `again` is a second pass, a probe asks whether the server works. */
export type Profile = "interactive" | "bulk" | "again" | "probe";

export interface QueryTimeouts {
  readonly triesMs: readonly number[];
  readonly tcpMs: number;
  readonly queueMs: number;
  /** The part of the cap that may be in use when it sends: what is above is kept for others. */
  readonly capPart: number;
}

export const QUERY_TIMEOUTS: Readonly<Record<Profile, QueryTimeouts>> = {
  // Each try is listened for to the end. At 2 % loss three tries leave one in 125,000 live names without an answer, four
  // one in 6 million.
  interactive: { triesMs: [400, 600, 700, 900], tcpMs: 2_000, queueMs: 2_000, capPart: 1 },
  bulk: {
    // Longer: where answers take 250 ms and vary, shorter tries would have a tenth more under way than the cap allows.
    triesMs: [700, 700, 800, 800],
    tcpMs: 3_000,
    queueMs: Infinity,
    capPart: 14 / 16, // so that a full batch makes neither single checks nor second passes wait
  },
  again: { triesMs: [400], tcpMs: 500, queueMs: 500, capPart: 15 / 16 },
  // Readiness waits 2 s; four tries in 1.6 s miss a live server once in 6 million at 2 % loss.
  probe: { triesMs: [250, 350, 450, 550], tcpMs: 1_000, queueMs: 1_000, capPart: 1 },
};

/** From the question, or in bulk from its first try, to its end, TCP included: under 5 s, ticks included. */
export const EXCHANGE_MAX_MS = 4_900;
