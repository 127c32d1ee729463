import { LRUCache } from "lru-cache";
import { dayOf } from "../core/calendar.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import type { PolicyQuestion } from "../core/policy/default-policy.ts";
import type { TrafficFacts } from "../core/policy/policy.ts";
import type { TrafficKind, TrafficTableRow } from "../store/schema.ts";
import { type Clock, inTime } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { WriteBehind } from "../base/write-behind.ts";
import { knownMark, type Marks, type TrafficOwner } from "./traffic-marks.ts";
import {
  COUNTED_MS,
  type Sighting,
  type TrafficStore,
  HOUR_MS,
  isWave,
  MINUTE_MS,
  type NewMailboxes,
  TrafficSubject,
} from "./traffic-store.ts";

/** What is asked, as far as counts are concerned. */
export interface CountedQuestion {
  readonly question: PolicyQuestion;
  /** The person has signed in to this account with this browser: counted apart, so that strangers use up none of it. */
  readonly isKnown: boolean;
}

const SIGN_UP: CountedQuestion = { question: "signup", isKnown: false };

const messagesTo = ({ mailbox }: Marks, { isKnown }: CountedQuestion): string =>
  isKnown ? knownMark(mailbox) : mailbox;

/** Further items of one subject and kind change nothing and are not kept. */
const ITEMS_MAX = 1_000;

/** A row is written again when it was last seen this part of its time ago. */
const REFRESH_PART = 1 / 1_440;

const ROWS_IN_MEMORY = 200_000;

/** Together with a second process's `freshMs` below the second that a kill may cost. */
const FLUSH_AFTER_MS = 400;
const SUBJECTS_PER_WRITE = 50;
/** Rows that wait while the store is away: a store that is down costs counts, not memory. */
const WAITING_MAX = 20_000;

/** A store that takes longer has not said anything: the facts are unknown. */
const ANSWER_MS = 300;

const LOG_EVERY_MS = 60_000;

const TEN_MINUTES_MS = 10 * MINUTE_MS;

export interface TrafficDeps {
  readonly store: Pick<TrafficStore, "ofSubjects" | "add" | "addIf">;
  /** How long what was read is believed: other processes write too. Absent: none does. */
  readonly freshMs?: number;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs" | "after">;
  readonly ids: Pick<Ids, "hex32">;
  readonly log: Pick<Log, "error">;
}

const NONE_SENT: TrafficFacts = {};

/** Counts the decisions of accounts in memory, and writes them behind. A kill may lose the last second. */
export class Traffic {
  readonly #deps: TrafficDeps;
  readonly #waiting: WriteBehind<Map<string, Sighting>>;
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
    const { mailbox, domain, mailHost, messages } = marks;
    const isMessage = asked.question === "send";
    if (from === "memory" && !isMessage) return undefined;
    const wanted = from === "memory" ? [mailbox] : [mailbox, domain, mailHost];
    if (isMessage) wanted.push(messages);
    if (asked.isKnown) wanted.push(knownMark(mailbox));
    const missing: string[] = [];
    for (const subject of wanted) {
      if (subject === undefined) continue;
      if (from === "memory" ? !this.#isRead(subject) : !this.#isFresh(subject))
        missing.push(subject);
    }
    return missing.length === 0 ? undefined : this.#read(marks.owner.accountId, missing, timeoutMs);
  }

  /** What the account's traffic says of a sign-up that is counted, or of a message that is not yet. Count it in the same turn of the event loop. */
  facts(marks: Marks, asked: CountedQuestion = SIGN_UP): TrafficFacts {
    const { mailbox, spelling, domain, subName, mailHost } = marks;
    const { question } = asked;
    const nowMs = this.#deps.clock.nowMs();
    const seen = (
      subject: TrafficSubject | undefined,
      kind: TrafficKind,
      item: string | undefined,
    ): number | undefined => {
      const items = subject?.current(kind, nowMs);
      const isOne = question === "send" || item === undefined || items?.has(item);
      return items && Math.min(ITEMS_MAX, isOne ? items.size : items.size + 1);
    };
    const person = this.#readSubject(mailbox);
    const own = domain === undefined ? undefined : this.#subjects.peek(domain);
    const host = own && mailHost !== undefined ? this.#subjects.peek(mailHost) : undefined;
    const { firstMs = nowMs } = own ?? {};
    const sent = question === "send" ? this.#sent(marks, asked, nowMs) : NONE_SENT;
    // In one piece, because members that are added one by one take longer than all that is counted.
    return {
      mailbox_seen: seen(person, "spelling", spelling),
      domain_mailboxes: seen(own, "mailbox", mailbox),
      sub_names: seen(own, "name", subName),
      domain_known_days: own && Math.max(0, dayOf(nowMs) - dayOf(firstMs)),
      mx_new_domains: seen(host, "new_domain", isNew(firstMs, nowMs) ? domain : undefined),
      sent_10m: sent.sent_10m,
      sent_day: sent.sent_day,
      sent_known: sent.sent_known,
      wave: sent.wave,
    };
  }

  #sent(marks: Marks, asked: CountedQuestion, nowMs: number): TrafficFacts {
    const times = this.#subjects.peek(messagesTo(marks, asked))?.current("message", nowMs);
    const person = this.#subjects.peek(marks.mailbox);
    const isSentTo = (person?.current("sent", nowMs).size ?? 0) > 0;
    const hasRead = this.#isRead(marks.mailbox);
    const strangers = this.#readSubject(marks.messages)?.newMailboxes(nowMs);
    return {
      sent_10m: times && within(times, nowMs - TEN_MINUTES_MS),
      sent_day: times?.size,
      // What this process sent itself is known also while the store has not said more.
      sent_known: asked.isKnown || isSentTo ? true : hasRead ? false : undefined,
      wave: strangers && isWave(strangers),
    };
  }

  count({ owner, mailbox, spelling, domain, subName, mailHost }: Marks): void {
    const nowMs = this.#deps.clock.nowMs();
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

  /** What changes at the times to come when less was sent to the mailbox lately, soonest first. */
  *messageFactsLater(
    marks: Marks,
    asked: CountedQuestion,
  ): Generator<{ afterMs: number; facts: TrafficFacts }> {
    const nowMs = this.#deps.clock.nowMs();
    const subject = this.#subjects.peek(messagesTo(marks, asked));
    const times = subject?.current("message", nowMs) ?? new Map<string, number>();
    const ends = [...times.values()].flatMap((atMs) => [
      atMs + TEN_MINUTES_MS,
      atMs + COUNTED_MS.message,
    ]);
    for (const atMs of ends.filter((end) => end > nowMs).toSorted((a, b) => a - b)) {
      const sent_10m = within(times, atMs - TEN_MINUTES_MS);
      const facts = { sent_10m, sent_day: within(times, atMs - COUNTED_MS.message) };
      yield { afterMs: atMs - nowMs, facts };
    }
  }

  /**
   * Counts a message in the turn that ruled on it. Where other processes count too, `isStillRight` is then asked with what
   * the store has of all of them, one mailbox at a time: false takes the message back. A store that does not answer in time
   * leaves it counted here.
   */
  countMessage(
    marks: Marks,
    asked: CountedQuestion,
    timeoutMs: number,
    isStillRight: (facts: TrafficFacts) => boolean,
  ): Awaitable<boolean> {
    const { owner, mailbox, messages } = marks;
    const nowMs = this.#deps.clock.nowMs();
    const subject = messagesTo(marks, asked);
    this.#messages += 1;
    const item = `${this.#processId}${this.#messages.toString(36)}`;
    const seen = (): void => {
      const isNew = this.#readSubject(mailbox)?.current("sent", nowMs).size === 0;
      this.#see(owner, mailbox, "sent", mailbox, nowMs);
      if (!isNew) return;
      this.#tally(owner, messages, "minute", Math.floor(nowMs / MINUTE_MS));
      this.#tally(owner, messages, "hour", Math.floor(nowMs / HOUR_MS));
    };
    this.#begun(subject).see("message", item, nowMs);
    if (this.#deps.freshMs === undefined) {
      this.#note(owner, { subject, kind: "message", item, count: 0 }, nowMs);
      seen();
      return true;
    }
    return this.#agreed(marks, { subject, item, nowMs }, timeoutMs, isStillRight).then(
      (isAgreed) => {
        if (isAgreed) seen();
        else this.#subjects.peek(subject)?.forget("message", item);
        return isAgreed;
      },
    );
  }

  async #agreed(
    { owner: { accountId: account_id, since } }: Marks,
    { subject, item, nowMs }: { subject: string; item: string; nowMs: number },
    timeoutMs: number,
    isStillRight: (facts: TrafficFacts) => boolean,
  ): Promise<boolean> {
    const { store, clock } = this.#deps;
    const what = { subject, kind: "message" as const, item, count: 0 };
    const row = { account_id, since, ...what, first_ms: nowMs, last_ms: nowMs };
    const isRight = (rows: readonly TrafficTableRow[]): boolean => {
      const known = this.#begun(subject);
      const all = new Map<string, number>();
      for (const { kind, item: other, last_ms: atMs } of [...rows, ...this.#unwritten(subject)]) {
        if (kind !== "message" || atMs <= nowMs - COUNTED_MS.message || other === item) continue;
        all.set(other, atMs);
        known.see(kind, other, atMs);
      }
      return isStillRight({ sent_10m: within(all, nowMs - TEN_MINUTES_MS), sent_day: all.size });
    };
    try {
      const adding = store.addIf(row, isRight);
      const isAdded = await inTime(adding, { timeoutMs, late: undefined, clock });
      if (isAdded !== undefined) return isAdded;
    } catch (fault) {
      this.#failed("traffic.count_failed", fault);
    }
    this.#note({ accountId: account_id, since, isPage: false }, what, nowMs);
    return true;
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
    const { freshMs = Infinity, clock } = this.#deps;
    return known !== undefined && clock.monotonicMs() - known.readAtMs < freshMs;
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
    if (lastMs !== undefined) {
      // A domain is new once: it stops counting a day after it was first seen behind the host.
      const isRecent = nowMs - lastMs < COUNTED_MS[kind] * REFRESH_PART;
      if (isRecent || kind === "new_domain") return known;
    } else if (items !== undefined && items.size >= ITEMS_MAX) return known;
    if (known !== undefined) {
      if (kind === "domain") known.firstMs ??= nowMs;
      known.see(kind, item, nowMs);
      if (lastMs === undefined) this.#grown(subject, known);
    }
    this.#note(owner, { subject, kind, item, count: 0 }, nowMs);
    return known;
  }

  #tally(owner: TrafficOwner, subject: string, kind: "minute" | "hour", at: number): void {
    const known = this.#subjects.peek(subject);
    if (known === undefined) return;
    const nowMs = this.#deps.clock.nowMs();
    const item = `${String(at)}.${this.#processId}`;
    const count = known.count(kind, item) + 1;
    known.see(kind, item, nowMs, count);
    if (count === 1) this.#grown(subject, known);
    this.#note(owner, { subject, kind, item, count }, nowMs);
  }

  #grown(subject: string, known: TrafficSubject): void {
    this.#subjects.delete(subject);
    this.#subjects.set(subject, known);
  }

  #note(
    { accountId: account_id, since }: TrafficOwner,
    what: Pick<TrafficTableRow, "subject" | "kind" | "item" | "count">,
    nowMs: number,
  ): void {
    const row = { account_id, since, ...what, first_ms: nowMs, last_ms: nowMs };
    this.#waiting.note(what.subject, new Map([[`${what.kind} ${what.item}`, row]]));
  }

  #failed(event: string, fault: unknown, about: Readonly<Record<string, number>> = {}): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#loggedAtMs = nowMs;
    this.#deps.log.error(event, fault, about);
  }
}

function within(times: ReadonlyMap<string, number>, afterMs: number): number {
  let count = 0;
  for (const atMs of times.values()) if (atMs > afterMs) count += 1;
  return count;
}

const isNew = (firstMs: number, nowMs: number): boolean => firstMs > nowMs - COUNTED_MS.new_domain;
