import { createHmac } from "node:crypto";
import { deriveKey } from "../base/secrets.ts";
import { LRUCache } from "lru-cache";
import { entriesUpTo } from "../base/entries.ts";
import { type Address, addressKey } from "../core/address/address.ts";
import { dayOf } from "../core/calendar.ts";
import { canonicalAddress } from "../core/evidence/alias.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { isKnownGood } from "../core/evidence/domain-evidence.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import { relayOfDomain } from "../core/mail/mail-hosts.ts";
import { type Domain, registrableOf } from "../core/name/domain.ts";
import type { PolicyQuestion } from "../core/policy/default-policy.ts";
import type { TrafficFacts } from "../core/policy/policy.ts";
import {
  DYNAMIC_DNS,
  FAMILY_EXCEPTIONS,
  FREE_REGISTRIES,
  LARGE_PROVIDERS,
  WEAK_REGISTRIES,
} from "../core/tables/data.ts";
import type { Validation } from "../core/validate/validate.ts";
import type { TrafficKind, TrafficTableRow } from "../store/schema.ts";
import { type Clock, inTime } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { WriteBehind } from "../base/write-behind.ts";
import {
  COUNTED_MS,
  PAGE_PREFIX,
  type Sighting,
  type TrafficStore,
  HOUR_MS,
  isWave,
  MINUTE_MS,
  type NewMailboxes,
  TrafficSubject,
} from "./traffic-store.ts";
/** What an account's decisions say of an address: hashes under a key of the account, which no other's rows match. */

/** 26 characters of base32: HMAC-SHA-256 under a key of the account, cut to 130 bits. */
export type AccountHash = (accountId: string, text: string) => string;

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HASH_LENGTH = 26;

const KEYS_MAX = 10_000;

export const mailboxKey = (secretKey: Uint8Array): Uint8Array =>
  deriveKey(secretKey, "mailbox ids");

export function createAccountHash(key: Uint8Array): AccountHash {
  const keys = new LRUCache<string, Uint8Array>(entriesUpTo(KEYS_MAX));
  const keyOf = (accountId: string): Uint8Array => {
    const known = keys.get(accountId);
    if (known !== undefined) return known;
    const made = createHmac("sha256", key).update(accountId).digest();
    keys.set(accountId, made);
    return made;
  };
  return (accountId, text) =>
    base32(createHmac("sha256", keyOf(accountId)).update(text).digest()).slice(0, HASH_LENGTH);
}

function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(value >> (bits - 5)) & 31] ?? "";
  }
  return text;
}

/** The id that all spellings of one mailbox share within an account; two accounts never share one. */
export const mailboxId = (
  hash: AccountHash,
  accountId: string,
  address: Parameters<typeof canonicalAddress>[0],
): string => `m_${hash(accountId, canonicalAddress(address))}`;

/** Keyed hashes of one account; what pages ask has a prefix. */
const markerOf =
  (hash: AccountHash, { accountId, since, isPage }: TrafficOwner) =>
  (kind: string, text: string): string => {
    const hashed = hash(accountId, `${kind} ${String(since)} ${text}`);
    return isPage ? PAGE_PREFIX + hashed : hashed;
  };

/** The marks of an address alone: its mailbox, and this spelling. */
export function trafficMarks(
  hash: AccountHash,
  owner: TrafficOwner,
  address: Address,
): readonly [mailbox: string, spelling: string] {
  const mark = markerOf(hash, owner);
  return [mark("mailbox", canonicalAddress(address)), mark("spelling", addressKey(address))];
}

export const messagesMark = (hash: AccountHash, owner: TrafficOwner): string =>
  markerOf(hash, owner)("messages", "");

/** An account with its traffic on. `since` changes when it is switched off and on: older rows are gone then. */
export interface TrafficOwner {
  readonly accountId: string;
  readonly since: number;
  /** Anybody may ask with the key of a page: that is counted apart, and read for such decisions alone. */
  readonly isPage: boolean;
}

export interface Marks {
  readonly owner: TrafficOwner;
  readonly mailbox: string;
  readonly spelling: string;
  /** What is counted of the account's messages as a whole. */
  readonly messages: string;
  /** Absent for domains whose mailboxes belong to strangers. */
  readonly domain?: string;
  /** Absent at the registrable domain itself. */
  readonly subName?: string;
  /** The registrable domain of the preferred mail host. */
  readonly mailHost?: string;
}

export function marksOf(
  owner: TrafficOwner,
  { entry, mail }: Pick<Validation, "entry" | "mail">,
  { hash, datasets }: { readonly hash: AccountHash; readonly datasets: OwnDomainData },
): Marks | undefined {
  if (entry.kind !== "address") return undefined;
  const { address, domain } = entry;
  const mark = markerOf(hash, owner);
  const [mailbox, spelling] = trafficMarks(hash, owner, address);
  const marks = { owner, mailbox, spelling, messages: messagesMark(hash, owner) };
  const own = ownDomainOf(domain, datasets);
  if (own === undefined) return marks;
  const [host] = mail?.kind === "hosts" ? mail.hosts : [];
  return {
    ...marks,
    domain: mark("domain", own),
    ...(domain.name !== own && { subName: mark("name", domain.name) }),
    ...(host !== undefined && { mailHost: mark("mail host", registrableOf(host) ?? host) }),
  };
}

type OwnDomainData = Pick<Datasets, "free" | "knownGood" | "operator">;

/** Undefined for providers, relays, public suffixes, registries of free names and dynamic DNS: no one owner has them. */
function ownDomainOf(domain: Domain, datasets: OwnDomainData): string | undefined {
  const { registrableDomain, privateRegistrableDomain } = domain;
  const isPrivate = registrableDomain !== privateRegistrableDomain;
  return isPrivate ? undefined : reportedDomainOf(domain, datasets);
}

/** The same for feedback, which may be about one customer of a private suffix such as "github.io". */
export function reportedDomainOf(domain: Domain, datasets: OwnDomainData): string | undefined {
  const { name, privateRegistrableDomain: own } = domain;
  if (own === undefined || relayOfDomain(domain) !== undefined) return undefined;
  if (SHARED.some((names) => names.has(own))) return undefined;
  const isShared = [name, own].some(
    (one) => LARGE_PROVIDERS.has(one) || datasets.free.has(one) || isKnownGood(one, datasets),
  );
  return isShared ? undefined : own;
}

const SHARED = [DYNAMIC_DNS, FAMILY_EXCEPTIONS, FREE_REGISTRIES, WEAK_REGISTRIES];

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
  readonly store: Pick<TrafficStore, "ofSubjects" | "add">;
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

  /** Has in memory what `facts` and `count` need, as far as the store says it in time. Never rejects. */
  read(marks: Marks, timeoutMs: number, question: PolicyQuestion = "signup"): Awaitable<void> {
    const { mailbox, domain, mailHost, messages } = marks;
    const stale: string[] = [];
    for (const subject of [mailbox, domain, mailHost, question === "send" ? messages : undefined])
      if (subject !== undefined && !this.#isFresh(subject)) stale.push(subject);
    return stale.length === 0 ? undefined : this.#read(marks.owner.accountId, stale, timeoutMs);
  }

  /** What the account's traffic says of a sign-up that is counted, or of a message that is not yet. Count it in the same turn of the event loop. */
  facts(marks: Marks, question: PolicyQuestion): TrafficFacts {
    const { mailbox, spelling, domain, subName, mailHost } = marks;
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
    const person = this.#subjects.peek(mailbox);
    const own = domain === undefined ? undefined : this.#subjects.peek(domain);
    const host = own && mailHost !== undefined ? this.#subjects.peek(mailHost) : undefined;
    const { firstMs = nowMs } = own ?? {};
    const sent = question === "send" ? this.#sent(person, marks, nowMs) : NONE_SENT;
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

  #sent(person: TrafficSubject | undefined, { messages: all }: Marks, nowMs: number): TrafficFacts {
    if (person === undefined) return NONE_SENT;
    const times = person.current("message", nowMs);
    const isKnown = person.current("sent", nowMs).size > 0;
    const sent = this.#subjects.peek(all)?.newMailboxes(nowMs);
    return {
      sent_10m: within(times, nowMs - TEN_MINUTES_MS),
      sent_day: times.size,
      sent_known: isKnown,
      wave: sent && isWave({ ...sent, messages: sent.messages + (isKnown ? 0 : 1) }),
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
  *messageFactsLater({ mailbox }: Marks): Generator<{ afterMs: number; facts: TrafficFacts }> {
    const nowMs = this.#deps.clock.nowMs();
    const times =
      this.#subjects.peek(mailbox)?.current("message", nowMs) ?? new Map<string, number>();
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

  /** Returns whether the message is one of a wave. */
  countMessage({ owner, mailbox, messages }: Marks): boolean {
    const nowMs = this.#deps.clock.nowMs();
    const isNew = this.#subjects.peek(mailbox)?.current("sent", nowMs).size === 0;
    this.#messages += 1;
    const item = `${this.#processId}${this.#messages.toString(36)}`;
    this.#see(owner, mailbox, "message", item, nowMs);
    this.#see(owner, mailbox, "sent", mailbox, nowMs);
    if (isNew) {
      this.#tally(owner, messages, "minute", Math.floor(nowMs / MINUTE_MS));
      this.#tally(owner, messages, "hour", Math.floor(nowMs / HOUR_MS));
    }
    const sent = this.#subjects.peek(messages)?.newMailboxes(nowMs);
    return sent !== undefined && isWave(sent);
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
