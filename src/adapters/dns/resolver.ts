import type { UnknownReason } from "../../core/mail/lookup.ts";
import { awakeClock } from "../../ports/process/awake-clock.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { Chain } from "./chain.ts";
import { DueList } from "./due-list.ts";
import { Lane } from "./transport/lane.ts";
import {
  Attempt,
  type AttemptEvents,
  type Done,
  type Query,
  type Reading,
  TypedQuery,
} from "./query.ts";
import { Outbox } from "./transport/outbox.ts";
import { EXCHANGE_MAX_MS, PATIENCE, type Patience, type Profile } from "./patience.ts";
import { random16From } from "./message/random16.ts";
import type { ServerAddress } from "./transport/server-address.ts";
import { TcpPipe } from "./transport/tcp.ts";
import { Ticker } from "./ticker.ts";
import { TryList } from "./try-list.ts";
import { UdpPool } from "./transport/udp.ts";
import { Window } from "./window.ts";
import type { Question } from "./message/wire.ts";

/** Of all places, one in so many belongs to retries. */
const RETRY_SHARE = 5;

/** Tries in a row without an answer, after which another server is asked first. */
const SILENT_TRIES_MAX = 8;

export interface ResolverOptions {
  /** At least one. */
  readonly servers: readonly ServerAddress[];
  readonly profile: Profile;
  readonly clock: Clock;
  /** `count` random bytes from a cryptographic source. */
  readonly random: (count: number) => Uint8Array;
  /** Queries under way at once, retries included; see `windowMaxFor`. */
  readonly windowMax: number;
}

/** Counters since the start, and two gauges. */
export interface ResolverStats {
  readonly queries: number;
  readonly retries: number;
  /** Questions answered by a retry. */
  readonly recovered: number;
  /** Answers that came after their place was given back or after another try was sent. */
  readonly lateAnswers: number;
  /** Messages that answer nothing that was asked. */
  readonly strays: number;
  readonly truncated: number;
  readonly unknown: Readonly<Record<UnknownReason, number>>;
  /** Gauge: how many first tries may be under way. */
  readonly window: number;
  /** Gauge: questions without a reply. */
  readonly unsettled: number;
}

export interface Resolver {
  /**
   * Asks, and calls `done` once and never before it returns. Whatever servers do, that is at most 5 s later,
   * for bulk 5 s after the first try. An alias whose end was not told is not followed.
   */
  ask<T>(question: Question<T>, done: Done<T>): void;
  /**
   * Undefined while few questions wait for their first try, else a promise of that. One who asks about
   * many names awaits it before each: a question that waits is alive, and what lives long costs time.
   */
  room(): Promise<void> | undefined;
  stats(): ResolverStats;
  /** Closes all sockets; what is still open is answered `unknown`, "deadline". */
  close(): void;
}

interface Server {
  readonly udp: UdpPool;
  readonly tcp: TcpPipe;
  /** Tries in a row without an answer. */
  silentTries: number;
}

export function createResolver(options: ResolverOptions): Resolver {
  return new UdpResolver(options);
}

class UdpResolver implements Resolver, AttemptEvents {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #patience: Patience;
  readonly #servers: readonly Server[];
  readonly #window: Window;
  readonly #firstTries: Lane<Query>;
  readonly #retries: Lane<Query>;
  readonly #tries: readonly TryList<Attempt>[];
  /** By their 5 s: those whose first try expired, and those that were sent elsewhere before it did. */
  readonly #expiring: DueList<Query>;
  readonly #detoured: DueList<Query>;
  readonly #unsettled = new Chain<Query>();
  readonly #unknown: Record<UnknownReason, number> = {
    timeout: 0,
    servfail: 0,
    refused: 0,
    malformed: 0,
    network: 0,
    deadline: 0,
  };
  readonly #counts = {
    queries: 0,
    retries: 0,
    recovered: 0,
    lateAnswers: 0,
    strays: 0,
    truncated: 0,
  };
  /** The server asked first, as an index. */
  #preferred = 0;
  readonly #ticker: Ticker;
  #isClosed = false;

  constructor({ servers, profile, clock: given, random, windowMax }: ResolverOptions) {
    const clock = awakeClock(given);
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
    this.#patience = PATIENCE[profile];
    const random16 = random16From(random);
    const outbox = new Outbox();
    const strayed = (): void => void (this.#counts.strays += 1);
    this.#servers = servers.map((server) => ({
      udp: new UdpPool({ server, clock, outbox, random16, strayed }),
      tcp: new TcpPipe(server, clock),
      silentTries: 0,
    }));
    const retriesMax = Math.max(1, Math.floor(windowMax / RETRY_SHARE));
    const window = new Window(Math.max(1, windowMax - retriesMax), this.#patience.windowStart);
    this.#window = window;
    this.#firstTries = new Lane(
      () => window.size,
      (query) => this.#send(query, this.#firstTries),
    );
    this.#retries = new Lane(
      () => retriesMax,
      (query) => this.#send(query, this.#retries),
    );
    this.#tries = this.#patience.triesMs.map(
      (tryMs) => new TryList(tryMs, (attempt) => this.#expired(attempt)),
    );
    this.#ticker = new Ticker(
      clock,
      () => this.#runDue(this.#nowMs()),
      () => this.#unsettled.length > 0,
    );
    const exchanges = (): DueList<Query> =>
      new DueList(
        ({ startedAtMs }) => startedAtMs + EXCHANGE_MAX_MS,
        (query) => this.#settle(query, query.why),
      );
    this.#expiring = exchanges();
    this.#detoured = exchanges();
  }

  ask<T>(question: Question<T>, done: Done<T>): void {
    const query = new TypedQuery(question, this.#nowMs(), done);
    this.#unsettled.add(query);
    if (this.#isClosed) {
      queueMicrotask(() => this.#settle(query, "deadline"));
      return;
    }
    query.server = this.#preferred;
    this.#ticker.start();
    this.#firstTries.add(query);
    if (this.#firstTries.waiting > 0) this.#window.full();
  }

  room(): Promise<void> | undefined {
    return this.#isClosed ? undefined : this.#firstTries.room();
  }

  stats(): ResolverStats {
    return {
      ...this.#counts,
      unknown: { ...this.#unknown },
      window: this.#window.size,
      unsettled: this.#unsettled.length,
    };
  }

  close(): void {
    this.#isClosed = true;
    for (let { first } = this.#unsettled; first !== undefined; { first } = this.#unsettled) {
      this.#settle(first, "deadline");
    }
    this.#firstTries.pump();
    this.#retries.pump();
    for (const { udp, tcp } of this.#servers) {
      udp.close();
      tcp.close();
    }
  }

  answered(attempt: Attempt, message: Buffer): void {
    const { query } = attempt;
    const nowMs = this.#nowMs();
    const isLate = attempt.lane === undefined || attempt.number !== query.sends - 1;
    attempt.end();
    this.#server(attempt.server).silentTries = 0;
    if (isLate) this.#counts.lateAnswers += 1;
    else if (attempt.number === 0) this.#window.answered(nowMs - attempt.sentAtMs);
    const reading = query.read(message);
    if (reading === "settles") {
      if (attempt.number > 0) {
        this.#counts.recovered += 1;
        this.#window.recovered();
      }
      this.#settle(query, undefined, nowMs);
    } else if (reading === "truncated") this.#askByTcp(query, attempt);
    else if (reading === "formErr") this.#withoutEdns(query, attempt);
    else this.#couldNotSay(query, attempt, reading);
  }

  failed(attempt: Attempt): void {
    if (attempt.query.isSettled) return;
    attempt.giveBackPlace(); // its time runs on: where there is no other server, the next try comes then
    this.#couldNotSay(attempt.query, attempt, "network");
  }

  /** Called by the lane in which `query` has just been given a place. */
  #send(query: Query, lane: Lane<Query>): void {
    query.isQueued = false;
    const packet = query.isSettled ? undefined : query.encode();
    if (packet === undefined) {
      lane.release();
      queueMicrotask(() => this.#settle(query, undefined));
      return;
    }
    const attempt = new Attempt(query, packet, { sentAtMs: this.#nowMs(), lane, events: this });
    if (query.sends > 0) this.#counts.retries += 1;
    else if (this.#patience.queueMs === Infinity) query.startedAtMs = attempt.sentAtMs;
    this.#counts.queries += 1;
    query.sends += 1;
    query.latest = attempt;
    this.#tries[attempt.number]?.add(attempt);
    this.#server(attempt.server).udp.send(attempt);
  }

  #settle(query: Query, why: UnknownReason | undefined, nowMs = this.#nowMs()): void {
    if (query.isSettled) return;
    query.isSettled = true;
    this.#unsettled.remove(query);
    for (let { latest } = query; latest !== undefined; latest = latest.earlier) latest.end();
    query.latest = undefined;
    if (why !== undefined) this.#unknown[why] += 1;
    query.finish(why, nowMs - query.startedAtMs);
  }

  /** Whether `attempt` is the last there is so far, so that what comes of it decides what is next. */
  #isLast({ query, number }: Attempt): boolean {
    return number === query.sends - 1 && !query.isQueued && !query.isTruncated;
  }

  #retry(query: Query, server: number): void {
    query.server = server % this.#servers.length;
    query.isQueued = true;
    this.#retries.add(query);
  }

  #mayRetry({ sends }: Query): boolean {
    return sends < this.#patience.triesMs.length;
  }

  /** Nothing came in the time of this try; it is listened for still. */
  #expired(attempt: Attempt): void {
    const { query } = attempt;
    if (query.isSettled) return;
    if (attempt.number === 0) this.#expiring.add(query);
    if (!this.#isLast(attempt)) return;
    this.#silent(attempt.server);
    if (this.#mayRetry(query)) this.#retry(query, attempt.server + 1);
    else this.#settle(query, query.why);
  }

  #silent(index: number): void {
    const server = this.#server(index);
    server.silentTries += 1;
    if (index !== this.#preferred || server.silentTries < SILENT_TRIES_MAX) return;
    this.#preferred = (index + 1) % this.#servers.length;
    this.#server(this.#preferred).silentTries = 0;
  }

  /** SERVFAIL, REFUSED, garbage, nobody there: once more on another server, and that is it. */
  #couldNotSay(query: Query, attempt: Attempt, why: UnknownReason): void {
    query.why = why;
    if (!this.#isLast(attempt)) return;
    if (this.#servers.length > 1 && !query.isRedirected && this.#mayRetry(query)) {
      query.isRedirected = true;
      this.#detoured.add(query);
      this.#retry(query, attempt.server + 1);
      return;
    }
    // Our only server may just be starting again: the tries go on at their pace.
    if (why === "network" && this.#servers.length === 1) return;
    this.#settle(query, why);
  }

  /** The server reads no EDNS (RFC 6891 section 7): the same one is asked once without. */
  #withoutEdns(query: Query, attempt: Attempt): void {
    if (!query.edns || !this.#mayRetry(query)) {
      this.#couldNotSay(query, attempt, "malformed");
      return;
    }
    query.edns = false;
    this.#detoured.add(query);
    if (this.#isLast(attempt)) this.#retry(query, attempt.server);
  }

  #askByTcp(query: Query, { server, packet }: Attempt): void {
    if (query.isTruncated) return;
    query.isTruncated = true;
    this.#counts.truncated += 1;
    const leftMs = query.startedAtMs + EXCHANGE_MAX_MS - this.#nowMs();
    const timeoutMs = Math.min(this.#patience.tcpMs, leftMs);
    this.#server(server).tcp.ask(packet, timeoutMs, (outcome) => {
      if (query.isSettled) return;
      const reading = typeof outcome === "string" ? outcome : query.read(outcome);
      this.#settle(query, byTcp(reading));
    });
  }

  /** Whole milliseconds since the start, which V8 keeps without a box. */
  #nowMs(): number {
    return Math.floor(this.#clock.monotonicMs() - this.#startMs);
  }

  #server(index: number): Server {
    const server = this.#servers[index];
    if (server === undefined) throw new Error("resolver: no servers");
    return server;
  }

  #runDue(nowMs: number): void {
    for (const list of this.#tries) list.run(nowMs);
    this.#expiring.run(nowMs);
    this.#detoured.run(nowMs);
    const oldestMs = nowMs - this.#patience.queueMs;
    this.#firstTries.dropWhile(
      ({ askedAtMs }) => askedAtMs <= oldestMs,
      (query) => this.#settle(query, "deadline"),
    );
    this.#window.adjust(nowMs);
    this.#firstTries.pump();
    this.#retries.pump();
  }
}

/** By TCP there is no other way left to ask. */
function byTcp(reading: Reading): UnknownReason | undefined {
  if (reading === "settles") return undefined;
  return reading === "truncated" || reading === "formErr" ? "malformed" : reading;
}
