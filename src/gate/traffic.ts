import { createHmac } from "node:crypto";
import { deriveKey } from "../base/secrets.ts";
import { LRUCache } from "lru-cache";
import { type Address, addressKey } from "../core/address/address.ts";
import { dayOf } from "../core/calendar.ts";
import { canonicalAddress } from "../core/evidence/alias.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { isKnownGood } from "../core/evidence/domain-evidence.ts";
import type { Awaitable } from "../core/mail/lookup.ts";
import { relayOfDomain } from "../core/mail/mail-hosts.ts";
import { type Domain, registrableOf } from "../core/name/domain.ts";
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
import type { Clock } from "../base/clock.ts";
import { inTime } from "../base/in-time.ts";
import type { Log } from "../base/log.ts";
import { WriteBehind } from "../base/write-behind.ts";
import { COUNTED_MS, PAGE_PREFIX, type Sighting, type TrafficStore } from "./traffic-store.ts";

/** What an account's decisions say of an address: hashes under a key of the account, which no other's rows match. */

/** 26 characters of base32: HMAC-SHA-256 under a key of the account, cut to 130 bits. */
export type AccountHash = (accountId: string, text: string) => string;

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HASH_LENGTH = 26;

const KEYS_MAX = 10_000;

export const mailboxKey = (secretKey: Uint8Array): Uint8Array =>
  deriveKey(secretKey, "mailbox ids");

/** `key` is for this alone. */
export function createAccountHash(key: Uint8Array): AccountHash {
  const keys = new LRUCache<string, Uint8Array>({ max: KEYS_MAX });
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
  const marks = { owner, mailbox, spelling };
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

/** What is forgotten is read again. */
const ROWS_IN_MEMORY = 200_000;

/** Together with a second process's `freshMs` below the second that a kill may cost. */
const FLUSH_AFTER_MS = 400;
const SUBJECTS_PER_WRITE = 50;
/** Rows that wait while the store is away: a store that is down costs counts, not memory. */
const WAITING_MAX = 20_000;

/** A store that takes longer has not said anything: the facts are unknown. */
const ANSWER_MS = 300;

const LOG_EVERY_MS = 60_000;

class Subject {
  /** By kind, each item with when it was last seen, oldest first. */
  readonly #items = new Map<TrafficKind, Map<string, number>>();
  firstMs: number | undefined;
  readonly readAtMs: number;

  constructor(rows: readonly TrafficTableRow[], readAtMs: number) {
    this.readAtMs = readAtMs;
    for (const row of rows.toSorted((a, b) => a.last_ms - b.last_ms)) {
      this.see(row.kind, row.item, row.last_ms);
      if (row.kind === "domain") this.firstMs = Math.min(row.first_ms, this.firstMs ?? Infinity);
    }
  }

  current(kind: TrafficKind, nowMs: number): ReadonlyMap<string, number> {
    const items = this.#items.get(kind) ?? new Map<string, number>();
    for (const [item, lastMs] of items) {
      if (lastMs > nowMs - COUNTED_MS[kind]) break;
      items.delete(item);
    }
    return items;
  }

  see(kind: TrafficKind, item: string, lastMs: number): void {
    const items = this.#items.get(kind) ?? new Map<string, number>();
    items.delete(item);
    this.#items.set(kind, items.set(item, lastMs));
  }

  get rows(): number {
    let rows = 1;
    for (const items of this.#items.values()) rows += items.size;
    return rows;
  }
}

export interface TrafficDeps {
  readonly store: Pick<TrafficStore, "ofSubjects" | "add">;
  /** How long what was read is believed: other processes write too. Absent: none does. */
  readonly freshMs?: number;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs" | "after">;
  readonly log: Pick<Log, "error">;
}

type Counts = { -readonly [Name in keyof TrafficFacts]: TrafficFacts[Name] };

/** Counts the decisions of accounts in memory, and writes them behind. A kill may lose the last second. */
export class Traffic {
  readonly #deps: TrafficDeps;
  readonly #waiting: WriteBehind<Map<string, Sighting>>;
  /** By hash. */
  readonly #subjects = new LRUCache<string, Subject>({
    maxSize: ROWS_IN_MEMORY,
    sizeCalculation: ({ rows }) => rows,
  });
  #loggedAtMs = -Infinity;

  constructor(deps: TrafficDeps) {
    this.#deps = deps;
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
  read(marks: Marks, timeoutMs: number): Awaitable<void> {
    if (subjectsOf(marks).every((subject) => this.#isFresh(subject))) return;
    return this.#read(marks, timeoutMs);
  }

  /** What the account's traffic says of a decision once it is counted. Call `count` in the same turn of the event loop. */
  facts({ mailbox, spelling, domain, subName, mailHost }: Marks): TrafficFacts {
    const nowMs = this.#deps.clock.nowMs();
    const facts: Counts = {};
    const set = (
      name: keyof Counts,
      subject: Subject | undefined,
      kind: TrafficKind,
      item: string | undefined,
    ): void => {
      if (subject === undefined) return;
      const items = subject.current(kind, nowMs);
      const more = item === undefined || items.has(item) ? 0 : 1;
      facts[name] = Math.min(ITEMS_MAX, items.size + more);
    };
    set("mailbox_seen", this.#subjects.get(mailbox), "spelling", spelling);
    const known = domain === undefined ? undefined : this.#subjects.get(domain);
    if (domain === undefined || known === undefined) return facts;
    set("domain_mailboxes", known, "mailbox", mailbox);
    set("sub_names", known, "name", subName);
    const { firstMs = nowMs } = known;
    facts.domain_known_days = Math.max(0, dayOf(nowMs) - dayOf(firstMs));
    if (mailHost === undefined) return facts;
    const item = isNew(firstMs, nowMs) ? domain : undefined;
    set("mx_new_domains", this.#subjects.get(mailHost), "new_domain", item);
    return facts;
  }

  count({ owner, mailbox, spelling, domain, subName, mailHost }: Marks): void {
    const nowMs = this.#deps.clock.nowMs();
    const see = (subject: string, kind: TrafficKind, item: string): Subject | undefined =>
      this.#see(owner, subject, kind, item, nowMs);
    see(mailbox, "spelling", spelling);
    if (domain === undefined) return;
    const known = see(domain, "domain", domain);
    see(domain, "mailbox", mailbox);
    if (subName !== undefined) see(domain, "name", subName);
    if (mailHost === undefined || known?.firstMs === undefined) return;
    if (isNew(known.firstMs, nowMs)) see(mailHost, "new_domain", domain);
  }

  /** Writes what waits. Never rejects. */
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

  async #read(marks: Marks, timeoutMs: number): Promise<void> {
    const { store, clock } = this.#deps;
    const subjects = subjectsOf(marks);
    const reading = store.ofSubjects(marks.owner.accountId, subjects).then((rows) => {
      for (const subject of subjects) {
        if (this.#isFresh(subject)) continue; // another decision read it, and counted
        const unwritten = this.#waiting.under(subject).flatMap((some) => [...some.values()]);
        const own = rows.filter((row) => row.subject === subject);
        this.#subjects.set(subject, new Subject([...own, ...unwritten], clock.monotonicMs()));
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
  ): Subject | undefined {
    const known = this.#subjects.get(subject);
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
      if (lastMs === undefined) {
        this.#subjects.delete(subject); // it takes more room now
        this.#subjects.set(subject, known);
      }
    }
    const { accountId: account_id, since } = owner;
    const row = { account_id, since, subject, kind, item, first_ms: nowMs, last_ms: nowMs };
    this.#waiting.note(subject, new Map([[`${kind} ${item}`, row]]));
    return known;
  }

  #failed(event: string, fault: unknown, about: Readonly<Record<string, number>> = {}): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#loggedAtMs = nowMs;
    this.#deps.log.error(event, fault, about);
  }
}

const isNew = (firstMs: number, nowMs: number): boolean => firstMs > nowMs - COUNTED_MS.new_domain;

const subjectsOf = ({ mailbox, domain, mailHost }: Marks): readonly string[] =>
  [mailbox, domain, mailHost].filter((subject) => subject !== undefined);
