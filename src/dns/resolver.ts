import type { UnknownReason } from "../core/mail/lookup.ts";
import { AwakeClock, type Clock } from "../base/clock.ts";
import { Lane, QUESTIONS_PER_ITERATION } from "./transport/lane.ts";
import type { OwnerKey } from "../base/owner.ts";
import {
  type PendingQuestion,
  Attempt,
  type AttemptEvents,
  byTcp,
  type Done,
  type MessageReading,
  Query,
  EXCHANGE_MAX_MS,
  NO_COUNTS,
  noUnknown,
  QUERY_TIMEOUTS,
  type QueryTimeouts,
  type Profile,
  type ResolverStats,
} from "./query.ts";
import { NS } from "./message/records.ts";
import type { ServerAddress } from "./transport/system-resolvers.ts";
import { type SharedCap, Window } from "./flow/window.ts";
import { TcpPipe } from "./transport/tcp.ts";
import { openUdp } from "./transport/udp.ts";
import { ServerList } from "./server-list.ts";

const TICK_MS = 20;

/** A tick later than this means that the event loop was blocked: answers wait unread in the sockets. */
const LATE_MS = 60;

export class Ticker {
  readonly #clock: Clock;
  readonly #run: () => void;
  readonly #isNeeded: () => boolean;
  #dueMs: number | undefined;
  #hasPassed = false;

  /** After a pause of the process one tick is skipped, so that waiting answers are read before a try counts as lost. */
  constructor(clock: Clock, run: () => void, isNeeded: () => boolean) {
    this.#clock = clock;
    this.#run = run;
    this.#isNeeded = isNeeded;
  }

  start(): void {
    if (this.#dueMs !== undefined) return;
    this.#dueMs = this.#clock.monotonicMs() + TICK_MS;
    this.#clock.after(TICK_MS, () => this.#tick());
  }

  #tick(): void {
    const lateMs = this.#clock.monotonicMs() - (this.#dueMs ?? 0);
    this.#dueMs = undefined;
    this.#hasPassed = lateMs >= LATE_MS && !this.#hasPassed;
    if (!this.#hasPassed) this.#run();
    if (this.#isNeeded()) this.start();
  }
}

export interface ResolverOptions {
  readonly servers: readonly ServerAddress[];
  readonly profile: Profile;
  readonly clock: Clock;
  readonly random: (count: number) => Uint8Array;
  readonly cap: SharedCap;
  readonly openUdp?: typeof openUdp;
}

export interface Resolver {
  /** Calls `done` once, never before it returns, at most 5 s later, for bulk 5 s after the first try. */
  ask<T>(question: PendingQuestion<T>, done: Done<T>): void;
  /** Undefined while few questions wait. Await it before each of many names: what waits is copied by the collector. */
  room(by?: OwnerKey): Promise<void> | undefined;
  stats(): ResolverStats;
  close(): void;
}

export const createResolver = (options: ResolverOptions): Resolver => new UdpResolver(options);

/** For an operator without DNS: every question is answered at once as by a server that refuses it, which is no "no". */
export const noResolver: Resolver = {
  ask: (_question, done) => queueMicrotask(() => done({ kind: "unknown", why: "refused" }, 0)),
  room: () => undefined,
  stats: () => ({
    ...NO_COUNTS,
    unknown: noUnknown(),
    window: 1_000,
    underWay: 0,
    unsettled: 0,
    tcpAlone: 0,
  }),
  close: () => undefined,
};

/** Silent tries with EDNS; some servers and middleboxes drop what they cannot read. */
const EDNS_TRIES_MAX = 2;

/** SERVFAIL and REFUSED come at once. Their tries keep their places this long, so that a server that limits us is asked less. */
const REFUSED_PLACE_MS = 1_000;
/** The same for loss, from a question's first try on, when a retry was answered: a server may drop what is over its limit. */
const LOST_PLACE_MS = 1_200;

const QUEUED_MAX = 1_000;

/** When nothing sent for so long is answered, a list's names may be dead: the root is asked, which no server leaves unanswered. */
const DOUBTED_AFTER_MS = 1_000;
/** Less than lies between a name's first and last try: when all are in a silence, it is known as one by its length. */
const SILENT_MS = 2_000;
/** Less than the tries of a name take, so that a silence which goes on is known when they end. */
const SILENT_AFTER_MS = 2_800;

class UdpResolver implements Resolver, AttemptEvents {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #timeouts: QueryTimeouts;
  readonly #servers: ServerList;
  readonly #window: Window;
  readonly #lane: Lane<Query>;
  readonly #open = new Set<Query>();
  readonly #kept = new Set<{ readonly untilMs: number; readonly by: OwnerKey | undefined }>();
  readonly #unknown = noUnknown();
  readonly #counts = { ...NO_COUNTS };
  readonly #ticker: Ticker;
  readonly #hasTcp: boolean;
  #isClosed = false;
  /** When the latest of all tries that were answered was sent, or asking began. A process that reads late does not change it. */
  #heardMs = 0;
  /** Whether the last questions ended in a silence, which may go on. */
  #endedSilent = false;
  #isAskingRoot = false;

  constructor(options: ResolverOptions) {
    const { servers, random, cap } = options;
    const clock = new AwakeClock(options.clock);
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
    this.#timeouts = QUERY_TIMEOUTS[options.profile];
    this.#hasTcp = options.openUdp === undefined;
    const strayed = (): void => void (this.#counts.strays += 1);
    const open = (options.openUdp ?? openUdp)({ clock, random, strayed });
    this.#servers = new ServerList(
      servers.map((server) => ({ udp: open(server), tcp: new TcpPipe(server, clock) })),
    );
    const limit = cap.limit(this.#timeouts.capPart);
    this.#window = new Window(limit);
    this.#lane = new Lane({
      start: (query) => this.#send(query),
      size: () => this.#window.size,
      cap: { take: () => cap.take(limit), giveBack: () => cap.giveBack() },
      // Simulated time may pass within one real turn.
      ...(options.openUdp === undefined && { perTurn: QUESTIONS_PER_ITERATION }),
    });
    this.#ticker = new Ticker(
      clock,
      () => this.#runDue(this.#nowMs()),
      () => this.#open.size + this.#kept.size > 0,
    );
  }

  ask<T>(question: PendingQuestion<T>, done: Done<T>): void {
    if (this.#isClosed || this.#isQueueFull(question.by)) {
      this.#unknown.deadline += 1;
      queueMicrotask(() => done({ kind: "unknown", why: "deadline" }, 0));
      return;
    }
    const query = new Query(question, this.#nowMs(), done as Done<unknown>); // of the same type
    if (this.#open.size === 0 && !this.#endedSilent) this.#heardMs = query.askedAtMs;
    this.#open.add(query);
    query.server = this.#servers.preferred;
    this.#ticker.start();
    this.#lane.add(query);
  }

  /** Lists wait for room instead. */
  #isQueueFull(by: OwnerKey | undefined): boolean {
    if (by === undefined || this.#timeouts.queueMs === Infinity) return false;
    return this.#lane.queuedOf(by) >= QUEUED_MAX;
  }

  room(by?: OwnerKey): Promise<void> | undefined {
    return this.#isClosed ? undefined : this.#lane.room(by);
  }

  stats(): ResolverStats {
    return {
      ...this.#counts,
      unknown: { ...this.#unknown },
      window: this.#window.size,
      underWay: this.#lane.underWay,
      unsettled: this.#open.size,
      tcpAlone: this.#servers.tcpAlone(this.#nowMs()),
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const query of this.#open) this.#finish(query, "deadline");
    this.#lane.pump();
    this.#releaseKept(Infinity);
    this.#servers.close();
  }

  answered(attempt: Attempt, message: Uint8Array): void {
    const { query } = attempt;
    const nowMs = this.#nowMs();
    if (!attempt.isTimed || attempt.number !== query.sends - 1) {
      this.#counts.lateAnswers += 1;
    }
    this.#servers.answered(attempt.server);
    this.#heard(attempt);
    const reading = query.read(message);
    const isRead = reading === "complete" || reading === "truncated";
    if (isRead && attempt.hasEdns) this.#servers.readEdns(attempt.server);
    else if (isRead && query.isEdnsDoubted) this.#servers.neededPlain(attempt.server, nowMs);
    this.#count(attempt, reading);
    this.#end(attempt);
    if (reading === "complete") {
      if (attempt.number > 0) this.#counts.recovered += 1;
      this.#finish(query, undefined, nowMs);
    } else if (reading === "truncated") this.#askByTcp(query, attempt);
    else if (reading === "noEdns") this.#withoutEdns(query, attempt);
    else this.#couldNotSay(query, attempt, reading);
  }

  failed(attempt: Attempt): void {
    if (attempt.query.isFinished) return;
    this.#giveBack(attempt); // its time runs on: without another server the next try comes when it is over
    this.#couldNotSay(attempt.query, attempt, "network");
  }

  #count(attempt: Attempt, reading: MessageReading): void {
    const { query, epoch } = attempt;
    if (reading === "servfail" || reading === "refused") {
      this.#window.failed(epoch, query.by);
      this.#keepPlace(attempt, attempt.sentAtMs + REFUSED_PLACE_MS);
    } else if (attempt.isTimed) {
      this.#window.answered(epoch, query.by);
      if (attempt.number > 0) this.#keepPlace(attempt, query.startedAtMs + LOST_PLACE_MS);
    } else this.#window.late(epoch, query.by);
  }

  #keepPlace(attempt: Attempt, untilMs: number): void {
    if (!attempt.hasPlace) return;
    attempt.hasPlace = false;
    this.#kept.add({ untilMs, by: attempt.query.by });
  }

  /** In the order in which they came: one may wait behind a later one for up to a second. */
  #releaseKept(nowMs: number): void {
    for (const place of this.#kept) {
      if (place.untilMs > nowMs) return;
      this.#kept.delete(place);
      this.#lane.release(place);
    }
  }

  #send(query: Query): void {
    query.isQueued = false;
    const isRetry = query.sends > 0;
    if (this.#servers.isPlain(query.server, this.#nowMs())) query.edns = false;
    const { isUnwanted } = query;
    const packet = query.isFinished || (isUnwanted && !isRetry) ? undefined : query.encode();
    if (packet === undefined) {
      this.#lane.release(query);
      queueMicrotask(() => this.#finish(query, isUnwanted ? "deadline" : undefined));
      return;
    }
    const sentAtMs = this.#nowMs();
    // First tries only: a dead name is tried four times, and 2 % of them would look like a server that loses 10 %.
    const epoch = isRetry ? -1 : this.#window.sent(this.#lane.underWay, sentAtMs);
    const attempt = new Attempt(query, packet, { sentAtMs, epoch, events: this });
    if (!isRetry && this.#timeouts.queueMs === Infinity) query.startedAtMs = sentAtMs;
    query.sends += 1;
    query.latest = attempt;
    if (isUnwanted) {
      attempt.isSent = false;
      query.why = "deadline";
      this.#giveBack(attempt);
      return;
    }
    this.#counts.queries += 1;
    if (isRetry) this.#counts.retries += 1;
    this.#servers.at(attempt.server).udp.send(attempt);
    if (this.#hasTcp && this.#isForTcp(attempt)) this.#alsoByTcp(attempt);
  }

  /** The last try is also sent by TCP; where UDP is in doubt the second is, because askers with short deadlines leave before the last. */
  #isForTcp({ query, server, sentAtMs, number }: Attempt): boolean {
    if (query.sends === this.#timeouts.triesMs.length) return true;
    return (
      this.#servers.isByTcp(server, sentAtMs) || (number > 0 && this.#servers.isUdpDoubted(server))
    );
  }

  /** What UDP leaves unanswered is not unknown before TCP was asked: packets get lost, and filters drop UDP alone. */
  #alsoByTcp(attempt: Attempt): void {
    const { query, server } = attempt;
    if (query.isByTcp || !this.#servers.mayTcp(server, this.#nowMs())) return;
    query.isByTcp = true;
    this.#byTcp(query, attempt, (outcome) => {
      const nowMs = this.#nowMs();
      if (outcome === "network") this.#servers.tcpFailed(server, nowMs);
      if (typeof outcome !== "string") this.#heard(attempt);
      if (query.isFinished || typeof outcome === "string") return;
      const reading = query.read(outcome);
      if (reading === "complete") this.#servers.answeredByTcp(server, nowMs);
      this.#finish(query, byTcp(reading), nowMs);
    });
  }

  #finish(query: Query, why: UnknownReason | undefined, nowMs = this.#nowMs()): void {
    if (query.isFinished) return;
    query.isFinished = true;
    this.#open.delete(query);
    this.#endedSilent = nowMs - this.#heardMs >= SILENT_MS;
    this.#lane.over(query, why === undefined);
    for (let { latest } = query; latest !== undefined; latest = latest.earlier) this.#end(latest);
    query.latest = undefined;
    if (why !== undefined) this.#unknown[why] += 1;
    query.finish(why, nowMs - query.startedAtMs);
  }

  #end(attempt: Attempt): void {
    attempt.isTimed = false;
    attempt.seat?.forget(attempt);
    this.#giveBack(attempt);
  }

  #giveBack(attempt: Attempt): void {
    if (!attempt.hasPlace) return;
    attempt.hasPlace = false;
    this.#lane.release(attempt.query);
  }

  #isLast({ query, number }: Attempt): boolean {
    return number === query.sends - 1 && !query.isQueued && !query.isTruncated;
  }

  #retry(query: Query, server: number): void {
    query.server = server % this.#servers.count;
    query.isQueued = true;
    this.#lane.retry(query);
  }

  #mayRetry({ sends }: Query): boolean {
    return sends < this.#timeouts.triesMs.length;
  }

  #expired(attempt: Attempt): void {
    const { query } = attempt;
    attempt.isTimed = false;
    this.#giveBack(attempt);
    this.#window.failed(attempt.epoch, query.by);
    if (query.isFinished) return;
    if (!this.#isLast(attempt)) return;
    if (attempt.isSent) this.#servers.silent(attempt.server);
    if (!this.#mayRetry(query)) {
      this.#finish(query, query.why);
      return;
    }
    if (query.edns && query.sends >= EDNS_TRIES_MAX) this.#dropEdns(query);
    this.#retry(query, attempt.server + 1);
  }

  /** SERVFAIL, REFUSED, garbage or an unreachable server: one more try on another server, then unknown. */
  #couldNotSay(query: Query, attempt: Attempt, why: UnknownReason): void {
    query.why = why;
    if (!this.#isLast(attempt)) return;
    if (this.#servers.count > 1 && !query.isRedirected && this.#mayRetry(query)) {
      query.isRedirected = true;
      this.#retry(query, attempt.server + 1);
      return;
    }
    // The only server may be restarting: the tries go on at their pace.
    if (why === "network" && this.#servers.count === 1) return;
    this.#finish(query, why);
  }

  /** The server does not read EDNS (RFC 6891 section 7): ask it once more without. */
  #withoutEdns(query: Query, attempt: Attempt): void {
    if (!query.edns || !this.#mayRetry(query)) {
      this.#couldNotSay(query, attempt, "malformed");
      return;
    }
    this.#dropEdns(query);
    if (this.#isLast(attempt)) this.#retry(query, attempt.server);
  }

  #dropEdns(query: Query): void {
    query.edns = false;
    query.isEdnsDoubted = true;
  }

  #askByTcp(query: Query, attempt: Attempt): void {
    if (query.isTruncated) return;
    if (query.isUnwanted) {
      this.#finish(query, "deadline");
      return;
    }
    query.isTruncated = true;
    this.#counts.truncated += 1;
    this.#byTcp(query, attempt, (outcome) => {
      if (query.isFinished) return;
      const reading = typeof outcome === "string" ? outcome : query.read(outcome);
      this.#finish(query, byTcp(reading));
    });
  }

  #byTcp(
    { startedAtMs, by, until }: Query,
    { server, packet }: Attempt,
    done: (outcome: Uint8Array | UnknownReason) => void,
  ): void {
    const leftMs = startedAtMs + EXCHANGE_MAX_MS - this.#nowMs();
    const timeoutMs = Math.min(this.#timeouts.tcpMs, leftMs);
    this.#servers.at(server).tcp.ask({ packet, by, until }, timeoutMs, done);
  }

  /** Whole milliseconds since the start: V8 stores small integers without allocating. */
  #nowMs(): number {
    return Math.floor(this.#clock.monotonicMs() - this.#startMs);
  }

  #runDue(nowMs: number): void {
    // By number: were the oldest questions served first, more would be at the server at once.
    for (const number of this.#timeouts.triesMs.keys()) {
      for (const query of this.#open) this.#expireTry(query, number, nowMs);
    }
    this.#releaseKept(nowMs);
    for (const query of this.#open) {
      const { sends, askedAtMs, startedAtMs } = query;
      if (sends > 0 && nowMs >= startedAtMs + EXCHANGE_MAX_MS) this.#finish(query, query.why);
      if (sends === 0 && nowMs >= askedAtMs + this.#timeouts.queueMs)
        this.#finish(query, "deadline");
    }
    this.#window.adjust(nowMs);
    if (this.#timeouts.queueMs === Infinity && this.#open.size > 0) this.#noteSilence(nowMs);
    this.#lane.pump();
  }

  #heard({ sentAtMs }: Attempt): void {
    const unheardMs = sentAtMs - this.#heardMs;
    if (unheardMs >= SILENT_MS) this.#counts.silentMs += unheardMs;
    this.#heardMs = Math.max(this.#heardMs, sentAtMs);
  }

  #noteSilence(nowMs: number): void {
    const quietMs = nowMs - this.#heardMs;
    if (quietMs >= SILENT_AFTER_MS) this.#counts.silentMs += TICK_MS;
    if (quietMs < DOUBTED_AFTER_MS || this.#isAskingRoot) return;
    this.#isAskingRoot = true;
    this.ask({ name: "", kind: NS }, () => void (this.#isAskingRoot = false));
  }

  #expireTry(query: Query, number: number, nowMs: number): void {
    const tryMs = this.#timeouts.triesMs[number] ?? 0;
    for (let { latest } = query; latest !== undefined; latest = latest.earlier) {
      const isDue = latest.isTimed && latest.number === number;
      if (isDue && nowMs >= latest.sentAtMs + tryMs) this.#expired(latest);
    }
  }
}
