import { LRUCache } from "lru-cache";
import { dayOf } from "../core/calendar.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import type { PolicyQuestion } from "../core/policy/default-policy.ts";
import { isShapeWave } from "../core/evidence/local-shape.ts";
import type { Facts, SourceCounts, TrafficFacts, WindowCounts } from "../core/policy/policy.ts";
import type { TrafficKind, TrafficTableRow } from "../store/schema.ts";
import { type Clock, inTime } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { WriteBehind } from "../base/write-behind.ts";
import { type Held, SharedMessages } from "./shared-messages.ts";
import {
  HOUR_MS,
  KINDS,
  MINUTE_MS,
  type TallyKind,
  WINDOWS,
  windowsOf,
  within,
} from "./traffic-kinds.ts";
import { knownMark, type Marks, type SourceMark, type TrafficOwner } from "./traffic-marks.ts";
import {
  GONE,
  isWave,
  type NewMailboxes,
  type Sighting,
  type TrafficStore,
  TrafficSubject,
} from "./traffic-store.ts";

export interface CountedQuestion {
  readonly question: PolicyQuestion;
  /** The person has signed in to this account with this browser: counted apart, so that strangers use up none of it. */
  readonly isKnown: boolean;
  readonly sources: readonly SourceMark[];
}

const SIGN_UP: CountedQuestion = { question: "signup", isKnown: false, sources: [] };

const messagesTo = ({ mailbox }: Marks, { isKnown }: CountedQuestion): string =>
  isKnown ? knownMark(mailbox) : mailbox;

const ROWS_IN_MEMORY = 200_000;

/** Together with a second process's `freshMs` below the second that a kill may cost. */
const FLUSH_AFTER_MS = 400;
const SUBJECTS_PER_WRITE = 50;

/** How long counts are believed where other servers count too. */
export const FRESH_MS = 400;

/** Rows that wait while the store is away: a store that is down costs counts, not memory. */
const WAITING_MAX = 20_000;

/** A store that takes longer has not said anything: the facts are unknown. */
const ANSWER_MS = 300;

const LOG_EVERY_MS = 60_000;

export interface TrafficDeps {
  readonly store: Pick<TrafficStore, "ofSubjects" | "add" | "addIf">;
  /** How long what was read is believed: other processes write too. Absent: none does. */
  readonly freshMs?: number;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs" | "after">;
  readonly ids: Pick<Ids, "hex32">;
  readonly log: Pick<Log, "error">;
}

const NONE_SENT: TrafficFacts = {};

export interface LaterFacts {
  readonly afterMs: readonly number[];
  readonly at: (afterMs: number) => Pick<Facts, "traffic" | "counts">;
}

/** Counts the decisions of accounts in memory, and writes them behind. A kill may lose the last second. */
export class Traffic {
  readonly #deps: TrafficDeps;
  readonly #waiting: WriteBehind<Map<string, Sighting>>;
  readonly #shared: SharedMessages;
  readonly #subjects = new LRUCache<string, TrafficSubject>({
    maxSize: ROWS_IN_MEMORY,
    sizeCalculation: ({ rows }) => rows,
  });
  #loggedAtMs = -Infinity;
  /** Each process writes what it counted itself, so that a write that is repeated changes nothing. */
  readonly #processId: string;
  #messages = 0;

  constructor(deps: TrafficDeps) {
    this.#deps = deps;
    this.#processId = deps.ids.hex32().slice(0, 12);
    this.#waiting = new WriteBehind({
      afterMs: FLUSH_AFTER_MS,
      batch: SUBJECTS_PER_WRITE,
      max: WAITING_MAX,
      sizeOf: (rows) => rows.size,
      merge(older, newer) {
        for (const [item, row] of newer) older.set(item, row);
        return older;
      },
      clock: deps.clock,
      save: (subjects) => deps.store.add(subjects.flatMap((rows) => [...rows.values()])),
      failed: (fault, lost) => this.#failed("traffic.write_failed", fault, { lost }),
    });
    this.#shared = new SharedMessages({
      store: deps.store,
      clock: deps.clock,
      item: () => this.#messageItem(),
      known: (subject) => this.#begun(subject),
      unwritten: (subject) => this.#unwritten(subject),
      note: (row) => this.#note(row),
      failed: (fault) => this.#failed("traffic.count_failed", fault),
    });
  }

  /**
   * Has in memory what `facts` and `count` need, as far as the store says it in time. "memory": for decisions that nobody
   * pays for, which ask for messages to a mailbox that was not read yet alone. Never rejects.
   */
  read(
    marks: Marks,
    timeoutMs: number,
    asked: CountedQuestion = SIGN_UP,
    from: "store" | "memory" = "store",
  ): Awaitable<void> {
    if (from === "memory" && asked.question === "signup") return undefined;
    const missing: string[] = [];
    for (const subject of subjectsOf(marks, asked, from)) {
      if (from === "memory" ? !this.#isRead(subject) : !this.#isFresh(subject))
        missing.push(subject);
    }
    return missing.length === 0 ? undefined : this.#read(marks.owner.accountId, missing, timeoutMs);
  }

  /** What the account's traffic says of a sign-up that is counted, or of a message that is not yet. Count it in the same turn of the event loop. */
  facts(marks: Marks, asked: CountedQuestion = SIGN_UP): TrafficFacts {
    const { mailbox, domain } = marks;
    const { question } = asked;
    const nowMs = this.#deps.clock.nowMs();
    const seen = (
      subject: TrafficSubject | undefined,
      kind: TrafficKind,
      item: string | undefined,
    ): number | undefined => {
      const items = subject?.current(kind, nowMs);
      const isOne = question !== "signup" || item === undefined || items?.has(item);
      return items && Math.min(KINDS[kind].most, isOne ? items.size : items.size + 1);
    };
    const person = this.#readSubject(mailbox);
    const own = domain === undefined ? undefined : this.#subjects.peek(domain);
    const mailHost = own && marks.mailHost;
    const host = mailHost === undefined ? undefined : this.#subjects.peek(mailHost);
    const { firstMs = nowMs } = own ?? {};
    const sent = question === "signup" ? NONE_SENT : this.#sent(marks, asked, nowMs);
    // In one piece, because members that are added one by one take longer than all that is counted.
    return {
      mailbox_seen: person && seen(person, "spelling", marks.spelling),
      domain_mailboxes: seen(own, "mailbox", mailbox),
      sub_names: own && seen(own, "name", marks.subName),
      domain_known_days: own && Math.max(0, dayOf(nowMs) - dayOf(firstMs)),
      mx_new_domains: host && seen(host, "new_domain", isNew(firstMs, nowMs) ? domain : undefined),
      sent_10m: sent.sent_10m,
      sent_day: sent.sent_day,
      sent_known: sent.sent_known,
      wave: sent.wave,
      shape_wave: question === "signup" ? this.#shapeWave(marks, person, nowMs) : undefined,
    };
  }

  #shapeWave(
    { shape }: Marks,
    person: TrafficSubject | undefined,
    nowMs: number,
  ): boolean | undefined {
    const known = shape && this.#readSubject(shape.subject);
    if (shape === undefined || known === undefined) return undefined;
    const own = person?.current("spelling", nowMs).size === 0 ? 1 : 0;
    const [ofShape, inHour] = [shape.of, undefined].map((of) =>
      known.sum("shape_minute", nowMs, of),
    );
    const [ofDays = 0, inDays = 0] = [shape.of, undefined].map((of) =>
      known.sum("shape_day", nowMs, of),
    );
    return isShapeWave(shape.of, {
      ofShape: (ofShape ?? 0) + own,
      inHour: (inHour ?? 0) + own,
      ofShapeBefore: ofDays - (ofShape ?? 0),
      before: inDays - (inHour ?? 0),
    });
  }

  /** Mailboxes before this one under each key, as far as the store has said; undefined without keys. */
  counts(
    { mailbox }: Marks,
    { sources }: CountedQuestion,
    nowMs = this.#deps.clock.nowMs(),
  ): SourceCounts | undefined {
    if (sources.length === 0) return undefined;
    const counts: Record<string, WindowCounts> = {};
    for (const { name, subject } of sources) {
      const known = this.#readSubject(subject);
      if (known !== undefined) counts[name] = windowsOf(known.items("source"), mailbox, nowMs);
    }
    return counts;
  }

  countSources({ owner, mailbox }: Marks, { sources }: CountedQuestion): void {
    const nowMs = this.#deps.clock.nowMs();
    for (const { subject } of sources) this.#see(owner, subject, "source", mailbox, nowMs);
  }

  #sent(marks: Marks, asked: CountedQuestion, nowMs: number): TrafficFacts {
    const subject = messagesTo(marks, asked);
    const times = this.#subjects.peek(subject)?.current("message", nowMs);
    const before = times && this.#shared.sent(subject, times, nowMs);
    const person = this.#subjects.peek(marks.mailbox);
    const isSentTo = (person?.current("sent", nowMs).size ?? 0) > 0;
    const strangers = this.#readSubject(marks.messages)?.newMailboxes(nowMs);
    const wave = strangers && isWave(strangers);
    // In a wave a mailbox of which the store has not said is asked like a stranger's: an overload lets no more out.
    const isStranger = wave === true || this.#isRead(marks.mailbox);
    return {
      sent_10m: before?.sent_10m,
      sent_day: before?.sent_day,
      // What this process sent itself is known also while the store has not said more.
      sent_known: asked.isKnown || isSentTo ? true : isStranger ? false : undefined,
      wave,
    };
  }

  count({ owner, mailbox, spelling, domain, subName, mailHost, shape }: Marks): void {
    const nowMs = this.#deps.clock.nowMs();
    // Each mailbox counts once: a person who tries five times is no farm.
    if (shape && this.#readSubject(mailbox)?.current("spelling", nowMs).size === 0) {
      this.#tally(owner, shape.subject, ["shape_minute", Math.floor(nowMs / MINUTE_MS)], shape.of);
      this.#tally(owner, shape.subject, ["shape_day", dayOf(nowMs)], shape.of);
    }
    const see = (subject: string, kind: TrafficKind, item: string): TrafficSubject | undefined =>
      this.#see(owner, subject, kind, item, nowMs);
    see(mailbox, "spelling", spelling);
    if (domain === undefined) return;
    const known = see(domain, "domain", domain);
    see(domain, "mailbox", mailbox);
    if (subName !== undefined) see(domain, "name", subName);
    if (mailHost === undefined || known?.firstMs === undefined) return;
    if (isNew(known.firstMs, nowMs)) see(mailHost, "new_domain", domain);
  }

  /** When less was sent to the mailbox, or asked under a key, than today: the times to come, soonest first, and what is known then. */
  later(marks: Marks, asked: CountedQuestion): LaterFacts {
    const nowMs = this.#deps.clock.nowMs();
    const sent = this.#subjects.peek(messagesTo(marks, asked))?.items("message") ?? NO_ITEMS;
    const ends = new Set<number>();
    const add = (items: ReadonlyMap<string, number>, windows: readonly number[]): void => {
      for (const atMs of items.values())
        for (const windowMs of windows) if (atMs + windowMs > nowMs) ends.add(atMs + windowMs);
    };
    add(sent, [WINDOWS["10m"], WINDOWS.day]);
    for (const { subject } of asked.sources)
      add(this.#subjects.peek(subject)?.items("source") ?? NO_ITEMS, Object.values(WINDOWS));
    return {
      afterMs: [...ends].map((atMs) => atMs - nowMs).sort((a, b) => a - b),
      at: (afterMs) => {
        const atMs = nowMs + afterMs;
        const sent_10m = within(sent, atMs - WINDOWS["10m"]);
        const traffic = { sent_10m, sent_day: within(sent, atMs - WINDOWS.day) };
        return { traffic, counts: this.counts(marks, asked, atMs) };
      },
    };
  }

  /**
   * Counts a message in the turn that ruled on it; undefined when it may go out. Where other processes count too,
   * `isStillRight` is then asked with what all of them sent. `isSent`: it is one that goes out, so that the mailbox is one
   * that the account has sent to.
   */
  countMessage(
    marks: Marks,
    asked: CountedQuestion,
    { isSent, timeoutMs }: { readonly isSent: boolean; readonly timeoutMs: number },
    isStillRight: (sent: TrafficFacts) => boolean,
  ): Awaitable<Held | undefined> {
    const { owner } = marks;
    const nowMs = this.#deps.clock.nowMs();
    const subject = messagesTo(marks, asked);
    const row = rowOf(owner, { subject, kind: "message", item: "", count: 0 }, nowMs);
    if (this.#deps.freshMs === undefined) {
      const item = this.#messageItem();
      this.#begun(subject).see("message", item, nowMs);
      this.#note({ ...row, item });
      if (isSent) this.#sentTo(marks, nowMs);
      return undefined;
    }
    return this.#shared.count(row, timeoutMs, isStillRight).then((held) => {
      if (held === undefined && isSent) this.#sentTo(marks, nowMs);
      return held;
    });
  }

  #messageItem(): string {
    this.#messages += 1;
    return `${this.#processId}${this.#messages.toString(36)}`;
  }

  #sentTo({ owner, mailbox, messages }: Marks, nowMs: number): void {
    // A mailbox of which the store has not said is counted as new: a wave that is missed is worse.
    const isNew = (this.#subjects.peek(mailbox)?.current("sent", nowMs).size ?? 0) === 0;
    this.#see(owner, mailbox, "sent", mailbox, nowMs);
    if (!isNew) return;
    this.#tally(owner, messages, ["minute", Math.floor(nowMs / MINUTE_MS)]);
    this.#tally(owner, messages, ["hour", Math.floor(nowMs / HOUR_MS)]);
  }

  /** Undefined while the store has not said. Never rejects. */
  async newMailboxes(owner: TrafficOwner, messages: string): Promise<NewMailboxes | undefined> {
    if (!this.#isFresh(messages)) await this.#read(owner.accountId, [messages], ANSWER_MS);
    return this.#subjects.peek(messages)?.newMailboxes(this.#deps.clock.nowMs());
  }

  flush(): Promise<void> {
    return this.#waiting.flush().catch((fault: unknown) => {
      this.#failed("traffic.write_failed", fault);
    });
  }

  #isFresh(subject: string): boolean {
    const known = this.#subjects.get(subject);
    const { freshMs, clock } = this.#deps;
    if (known === undefined) return false;
    return freshMs === undefined || clock.monotonicMs() - known.readAtMs < freshMs;
  }

  #isRead(subject: string): boolean {
    return this.#readSubject(subject) !== undefined;
  }

  /** Undefined as well where only this process's own messages are known. */
  #readSubject(subject: string): TrafficSubject | undefined {
    const known = this.#subjects.peek(subject);
    return known !== undefined && known.readAtMs > -Infinity ? known : undefined;
  }

  /** What is known of the subject, or as long as the store has not said anything of it what this process counts. */
  #begun(subject: string): TrafficSubject {
    const known = this.#subjects.peek(subject) ?? new TrafficSubject([], -Infinity);
    this.#grown(subject, known);
    return known;
  }

  #unwritten(subject: string): readonly Sighting[] {
    return this.#waiting.under(subject).flatMap((some) => [...some.values()]);
  }

  async #read(accountId: string, subjects: readonly string[], timeoutMs: number): Promise<void> {
    const { store, clock } = this.#deps;
    // What is being written may be stored after the rows are read, and be no longer under way then.
    const before = new Map(subjects.map((subject) => [subject, this.#unwritten(subject)]));
    const reading = store.ofSubjects(accountId, subjects).then((rows) => {
      for (const subject of subjects) {
        if (this.#isFresh(subject)) continue; // another decision read it, and counted
        const own = rows.filter((row) => row.subject === subject);
        const all = [...own, ...(before.get(subject) ?? []), ...this.#unwritten(subject)];
        this.#subjects.set(subject, new TrafficSubject(all, clock.monotonicMs()));
      }
      return true;
    });
    try {
      const limit = { timeoutMs: Math.min(timeoutMs, ANSWER_MS), late: false, clock };
      const isRead = await inTime(reading, limit);
      // A decision that has less time left says nothing of the store.
      if (!isRead && timeoutMs >= ANSWER_MS) throw new Error("the store does not answer in time");
    } catch (fault) {
      this.#failed("traffic.read_failed", fault); // what was read before still holds
    }
  }

  /** Notes the row unless what is known is new enough. The subject, or undefined while the store has not said. */
  #see(
    owner: TrafficOwner,
    subject: string,
    kind: TrafficKind,
    item: string,
    nowMs: number,
  ): TrafficSubject | undefined {
    const known = this.#subjects.peek(subject);
    const items = known?.current(kind, nowMs);
    const lastMs = items?.get(item);
    const { againMs, most, full } = KINDS[kind];
    if (lastMs !== undefined) {
      if (nowMs - lastMs < againMs) return known;
    } else if (items !== undefined && items.size >= most) {
      if (full === "stays") return known;
      const [oldest = ""] = items.keys();
      known?.forget(kind, oldest);
      this.#note(rowOf(owner, { subject, kind, item: oldest, count: GONE }, nowMs));
    }
    if (known !== undefined) {
      if (kind === "domain") known.firstMs ??= nowMs;
      known.see(kind, item, nowMs);
      if (lastMs === undefined) this.#grown(subject, known);
    }
    this.#note(rowOf(owner, { subject, kind, item, count: 0 }, nowMs));
    return known;
  }

  /** Adds one to what this process counted at that time, in the group. */
  #tally(
    owner: TrafficOwner,
    subject: string,
    [kind, at]: readonly [TallyKind, number],
    group?: string,
  ): void {
    const known = this.#subjects.peek(subject);
    if (known === undefined) return;
    const nowMs = this.#deps.clock.nowMs();
    const own = `${String(at)}.${this.#processId}`;
    const item = group === undefined ? own : `${own}.${group}`;
    const count = known.count(kind, item) + 1;
    known.see(kind, item, nowMs, count);
    if (count === 1) this.#grown(subject, known);
    this.#note(rowOf(owner, { subject, kind, item, count }, nowMs));
  }

  #grown(subject: string, known: TrafficSubject): void {
    this.#subjects.delete(subject);
    this.#subjects.set(subject, known);
  }

  #note(row: Sighting): void {
    this.#waiting.note(row.subject, new Map([[`${row.kind} ${row.item}`, row]]));
  }

  #failed(event: string, fault: unknown, about: Readonly<Record<string, number>> = {}): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#loggedAtMs = nowMs;
    this.#deps.log.error(event, fault, about);
  }
}

const rowOf = (
  { accountId: account_id, since }: TrafficOwner,
  what: Pick<TrafficTableRow, "subject" | "kind" | "item" | "count">,
  nowMs: number,
): Sighting => ({ account_id, since, ...what, first_ms: nowMs, last_ms: nowMs });

function subjectsOf(
  marks: Marks,
  { question, isKnown, sources }: CountedQuestion,
  from: "store" | "memory",
): readonly string[] {
  const subjects = [marks.mailbox];
  if (question !== "signup") subjects.push(marks.messages);
  if (isKnown) subjects.push(knownMark(marks.mailbox));
  if (from === "memory") return subjects;
  const { domain, mailHost, shape } = marks;
  for (const subject of [domain, mailHost]) if (subject !== undefined) subjects.push(subject);
  if (question === "signup" && shape !== undefined) subjects.push(shape.subject);
  for (const { subject } of sources) subjects.push(subject);
  return subjects;
}

const NO_ITEMS: ReadonlyMap<string, number> = new Map();

const isNew = (firstMs: number, nowMs: number): boolean =>
  firstMs > nowMs - KINDS.new_domain.countedMs;
