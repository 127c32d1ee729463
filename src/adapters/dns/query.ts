import type { UnknownReason } from "../../core/mail/lookup.ts";
import type { Link } from "./chain.ts";
import type { Lane } from "./transport/lane.ts";
import { interpret, type Reply } from "./message/reply.ts";
import type { Timed, TryList } from "./try-list.ts";
import type { Listener, Seat } from "./transport/udp.ts";
import { decodeResponse, encodeQuery, type Question, RCODE } from "./message/wire.ts";

/** What a message means for the query: settled by it, to be asked otherwise, or the server could not say. */
export type Reading = "settles" | "truncated" | "formErr" | UnknownReason;

/** One question on its way through tries and servers, whatever type it is of. */
export abstract class Query implements Link<Query> {
  previous: Query | undefined;
  next: Query | undefined;
  readonly askedAtMs: number;
  /** When its 5 s began: as it was asked, or in bulk, where questions may wait long, at the first try. */
  startedAtMs: number;
  edns = true;
  /** Which server is asked next, as an index. */
  server = 0;
  /** How often it was sent; also the number of the next try. */
  sends = 0;
  /** A retry waits for its place. */
  isQueued = false;
  isRedirected = false;
  isTruncated = false;
  isSettled = false;
  /** What to say when nobody answers. */
  why: UnknownReason = "timeout";
  /** The last try; the others follow by `earlier`. */
  latest: Attempt | undefined;

  constructor(askedAtMs: number) {
    this.askedAtMs = askedAtMs;
    this.startedAtMs = askedAtMs;
  }

  /** A packet of its own for each try; undefined when the name is none. */
  abstract encode(): Buffer | undefined;
  /** Reads a message that answers the question; when it settles the query, `finish` tells its reply. */
  abstract read(message: Buffer): Reading;
  /** Tells whoever asked why nobody could say; without that, the reply that was read. */
  abstract finish(why: UnknownReason | undefined, spentMs: number): void;
}

/** Takes the reply, when `spentMs` of the 5 s are over. */
export type Done<T> = (reply: Reply<T>, spentMs: number) => void;

/** Until something is read: what holds of a name that cannot be asked for, for it cannot be there. */
const NO_SUCH_NAME = { kind: "absent", why: "noName", ttlSeconds: undefined } as const;

/** A query of one type, with the one who waits for its reply. */
export class TypedQuery<T> extends Query {
  readonly #question: Question<T>;
  readonly #done: Done<T>;
  #reply: Reply<T> = NO_SUCH_NAME;

  constructor(question: Question<T>, askedAtMs: number, done: Done<T>) {
    super(askedAtMs);
    this.#question = question;
    this.#done = done;
  }

  override encode(): Buffer | undefined {
    return encodeQuery(this.#question, this);
  }

  override read(message: Buffer): Reading {
    const response = decodeResponse(message, this.#question);
    if (response === undefined) return "malformed";
    if (response.truncated) return "truncated";
    if (response.rcode === RCODE.formErr) return "formErr";
    const reply = interpret(this.#question, response);
    if (reply.kind === "unknown") return reply.why;
    this.#reply = reply;
    return "settles";
  }

  override finish(why: UnknownReason | undefined, spentMs: number): void {
    this.#done(why === undefined ? this.#reply : { kind: "unknown", why }, spentMs);
  }
}

export interface AttemptEvents {
  answered(attempt: Attempt, message: Buffer): void;
  failed(attempt: Attempt): void;
}

/** One try of a query by UDP. */
export class Attempt implements Listener, Timed<Attempt> {
  previous: Attempt | undefined;
  next: Attempt | undefined;
  /** The try before it. */
  readonly earlier: Attempt | undefined;
  /** Where its time runs; undefined once it is answered, failed or over. */
  list: TryList<Attempt> | undefined;
  readonly query: Query;
  readonly packet: Buffer;
  readonly server: number;
  /** 0 for the first try. */
  readonly number: number;
  readonly sentAtMs: number;
  seat: Seat | undefined;
  /** The lane in which it holds a place; it gives that back before it stops listening. */
  lane: Lane<Query> | undefined;
  readonly #events: AttemptEvents;

  constructor(query: Query, packet: Buffer, place: AttemptPlace) {
    this.query = query;
    this.earlier = query.latest;
    this.packet = packet;
    this.server = query.server;
    this.number = query.sends;
    this.sentAtMs = place.sentAtMs;
    this.lane = place.lane;
    this.#events = place.events;
  }

  answered(message: Buffer): void {
    this.#events.answered(this, message);
  }

  failed(): void {
    this.#events.failed(this);
  }

  /** Answered, failed or wanted no longer: its time stops and its place is free. */
  end(): void {
    this.list?.remove(this);
    this.seat?.forget(this);
    this.giveBackPlace();
  }

  giveBackPlace(): void {
    const { lane } = this;
    this.lane = undefined;
    lane?.release();
  }
}

export interface AttemptPlace {
  readonly sentAtMs: number;
  readonly lane: Lane<Query>;
  readonly events: AttemptEvents;
}
