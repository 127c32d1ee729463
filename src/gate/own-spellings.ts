import { addressKey } from "../core/address/address.ts";
import { canonicalAddress } from "../core/evidence/alias.ts";
import { dayOf } from "../core/calendar.ts";
import { readEntry } from "../core/address/entry.ts";
import type { AddressHash } from "../base/address-hash.ts";
import type { Clock } from "../base/clock.ts";
import { inTime } from "../base/in-time.ts";
import type { Log } from "../base/log.ts";
import type { OwnSpellings, SpellingSighting } from "./own-spellings-types.ts";
import { WriteBehind } from "../base/write-behind.ts";

/** UTC days of traffic that count, today included. */
export const SPELLING_DAYS = 7;

/** Spellings that one account may have counted; those that come later are not, until older ones are forgotten. */
const SPELLINGS_MAX = 50_000;

/** More spellings of one mailbox change nothing and are not kept; a few are, because they expire one by one. */
const MAILBOX_SPELLINGS_MAX = 20;

/** What an account's own traffic says of an entry, including this check. */
export interface MailboxSight {
  /** Spellings of the mailbox in 7 days; absent if the entry is not an address or the store did not answer. */
  readonly seen?: number;
}

/** Never rejects. */
export type MailboxSeen = (accountId: string, entry: string) => Promise<MailboxSight>;

export interface SpellingCounter {
  readonly mailboxSeen: MailboxSeen;
  /** Writes what waits. Never rejects: a fault is logged, and what was not written waits on. */
  flush(): Promise<void>;
}

export interface SpellingCounterDeps {
  readonly spellings: Pick<OwnSpellings, "ofMailboxes" | "add">;
  /** Under a key for this alone. */
  readonly hash: AddressHash;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Pick<Log, "error">;
}

/** The most counts that a kill loses. */
const FLUSH_AFTER_MS = 1_000;

/** A store that takes longer has not said anything. */
const ANSWER_MS = 500;

/** Mailboxes of one transaction, with a few spellings each. */
const BATCH = 50;

/** Spellings that wait to be written; a store that is slower than the traffic costs counts, not memory. */
const WAITING_MAX = 20_000;

export function createSpellingCounter(deps: SpellingCounterDeps): SpellingCounter {
  const counter = new Counter(deps);
  return {
    mailboxSeen: (accountId, entry) => counter.see(accountId, entry),
    flush: () => counter.flush(),
  };
}

type Sight = Omit<SpellingSighting, "day" | "accountId">;

/** Of one mailbox, by spelling. */
type Sightings = ReadonlyMap<string, SpellingSighting>;

/** Of one mailbox the last day of each spelling. */
type Known = Map<string, number>;

class Counter {
  readonly #deps: SpellingCounterDeps;
  /** By account and mailbox. */
  readonly #waiting: WriteBehind<Sightings>;

  constructor(deps: SpellingCounterDeps) {
    this.#deps = deps;
    const { clock, spellings } = deps;
    this.#waiting = new WriteBehind<Sightings>({
      afterMs: FLUSH_AFTER_MS,
      batch: BATCH,
      max: WAITING_MAX,
      sizeOf: ({ size }) => size,
      merge: (older, newer) => new Map([...older, ...newer]),
      clock,
      save: (mailboxes) =>
        spellings.add(
          mailboxes.flatMap((all) => [...all.values()]),
          SPELLINGS_MAX,
        ),
      failed: (fault, lost) => this.#notWritten(fault, lost),
    });
  }

  async see(accountId: string, entry: string): Promise<MailboxSight> {
    const sight = this.#sightOf(accountId, entry);
    if (sight === undefined) return {};
    const known = await this.#known(accountId, sight.mailbox);
    this.#note(accountId, sight, known);
    // A store that could not say leaves it unsaid, also of what waits here.
    return known === undefined ? {} : { seen: known.size };
  }

  flush(): Promise<void> {
    return this.#waiting.flush().catch((fault: unknown) => this.#notWritten(fault, 0));
  }

  #notWritten(fault: unknown, lost: number): void {
    this.#deps.log.error("own_traffic.write_failed", fault, { lost });
  }

  /** The account is part of every hash, so that no two accounts' rows can be matched. */
  #sightOf(accountId: string, entry: string): Sight | undefined {
    const read = readEntry(entry, "address");
    if (read.kind !== "address") return undefined;
    const { hash } = this.#deps;
    return {
      mailbox: hash(`mailbox ${accountId} ${canonicalAddress(read.address)}`),
      spelling: hash(`spelling ${accountId} ${addressKey(read.address)}`),
    };
  }

  /** Undefined when the store cannot say. */
  async #known(accountId: string, mailbox: string): Promise<Known | undefined> {
    const { spellings, clock, log } = this.#deps;
    const fromDay = dayOf(clock.nowMs()) - SPELLING_DAYS + 1;
    const seen: Known = new Map();
    const add = ({ spelling, day }: SpellingSighting): void => {
      if (day >= fromDay) seen.set(spelling, day);
    };
    try {
      const asked = spellings.ofMailboxes(accountId, [mailbox], fromDay);
      const found = await inTime(asked, { timeoutMs: ANSWER_MS, late: undefined, clock });
      if (found === undefined) throw new Error("own traffic: the store does not answer");
      found.forEach(add);
    } catch (fault) {
      log.error("own_traffic.read_failed", fault);
      return undefined;
    }
    for (const sightings of this.#waiting.under(keyOf(accountId, mailbox))) sightings.forEach(add);
    return seen;
  }

  /** Adds the sight to `known` and, unless today has it already, to what is to be written. */
  #note(accountId: string, { mailbox, spelling }: Sight, known: Known | undefined): void {
    const day = dayOf(this.#deps.clock.nowMs());
    if (known?.get(spelling) === day) return;
    if (known?.has(spelling) === false && known.size >= MAILBOX_SPELLINGS_MAX) return;
    known?.set(spelling, day);
    const sighting = { accountId, mailbox, spelling, day };
    this.#waiting.note(keyOf(accountId, mailbox), new Map([[spelling, sighting]]));
  }
}

const keyOf = (accountId: string, mailbox: string): string => [accountId, mailbox].join(" ");
