import { addressKey } from "../../core/address/address.ts";
import { canonicalAddress } from "../../core/evidence/alias.ts";
import { dayOf } from "../../core/calendar.ts";
import { readEntry } from "../../core/address/entry.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import { type Evidence, evidence } from "../../core/evidence/signals.ts";
import type { AddressHash } from "../../ports/evidence/address-hash.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { inTime } from "../../ports/process/in-time.ts";
import type { Log } from "../../ports/process/log.ts";
import type { OwnSpellings, SpellingSighting } from "../../ports/evidence/own-spellings.ts";
import type { Caller } from "../admission/caller.ts";
import { WriteBehind } from "../upkeep/write-behind.ts";

/** From this many spellings of one mailbox its addresses get `dot_scatter`. */
const SPELLINGS_MIN = 5;

/** UTC days of traffic that count, today included. */
export const SPELLING_DAYS = 7;

/** Spellings that one account may have counted; those that come later are not, until older ones are forgotten. */
const SPELLINGS_MAX = 50_000;

/** More spellings of one mailbox change nothing and are not kept; a few are, because they expire one by one. */
const MAILBOX_SPELLINGS_MAX = 20;

/** What the counters say of an entry. */
export type EvidenceOf = (entry: string) => readonly Evidence[];

/**
 * Takes entries for an account's traffic and says what its counters say of each, these sights included. Never
 * rejects: without an answer of the store there is no evidence.
 */
export type OwnEvidence = (accountId: string, entries: readonly string[]) => Promise<EvidenceOf>;

const NOTHING: readonly Evidence[] = [];
const SCATTERED: readonly Evidence[] = [evidence("dot_scatter")];
const nothingKnown: EvidenceOf = () => NOTHING;

/** Of the caller's own traffic, if he wants it counted; at once if not. Without a key nothing is ever counted. */
export function ownEvidenceFor(
  { owner, countsSpellings }: Caller,
  entries: readonly string[],
  ownEvidence: OwnEvidence | undefined,
): Awaitable<EvidenceOf> {
  if (countsSpellings !== true || owner.kind !== "account") return nothingKnown;
  if (entries.length === 0) return nothingKnown;
  return ownEvidence === undefined ? nothingKnown : ownEvidence(owner.accountId, entries);
}

/** The evidence of an account's own traffic about one entry, including this check. */
export interface MailboxSight {
  readonly evidence: readonly Evidence[];
  /** Spellings of the mailbox in 7 days; absent if the entry is not an address or the store did not answer. */
  readonly seen?: number;
}

/** Never rejects. */
export type MailboxSeen = (accountId: string, entry: string) => Promise<MailboxSight>;

export interface SpellingCounter {
  readonly ownEvidence: OwnEvidence;
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
    async ownEvidence(accountId, entries) {
      const seen = await counter.see(accountId, entries);
      return (entry) => evidenceOf(seen(entry));
    },
    async mailboxSeen(accountId, entry) {
      const seen = (await counter.see(accountId, [entry]))(entry);
      return { evidence: evidenceOf(seen), ...(seen !== undefined && { seen }) };
    },
    flush: () => counter.flush(),
  };
}

const evidenceOf = (seen = 0): readonly Evidence[] => (seen >= SPELLINGS_MIN ? SCATTERED : NOTHING);

type Sight = Omit<SpellingSighting, "day" | "accountId">;

/** By mailbox the last day of each spelling. */
type Seen = Map<string, Map<string, number>>;

/** Of one mailbox, by spelling. */
type Sightings = ReadonlyMap<string, SpellingSighting>;

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

  /** By entry the spellings of its mailbox; undefined if it is not an address or could not be read. */
  async see(
    accountId: string,
    entries: readonly string[],
  ): Promise<(entry: string) => number | undefined> {
    const sights = new Map<string, Sight>();
    for (const entry of entries) {
      const sight = this.#sightOf(accountId, entry);
      if (sight !== undefined) sights.set(entry, sight);
    }
    if (sights.size === 0) return () => undefined;
    const mailboxes = [...new Set([...sights.values()].map(({ mailbox }) => mailbox))];
    const seen = await this.#known(accountId, mailboxes);
    for (const sight of sights.values()) this.#note(accountId, sight, seen);
    // A store that could not say leaves it unsaid, also of what waits here.
    if (seen === undefined) return () => undefined;
    return (entry) => seen.get(sights.get(entry)?.mailbox ?? "")?.size;
  }

  flush(): Promise<void> {
    return this.#waiting.flush().catch((fault: unknown) => this.#notWritten(fault, 0));
  }

  #notWritten(fault: unknown, lost: number): void {
    this.#deps.log.error("own_traffic.write_failed", fault, { lost });
  }

  /** Undefined unless it is an address. The account is part of the hash, so that no two accounts' rows can be matched. */
  #sightOf(accountId: string, entry: string): Sight | undefined {
    const read = readEntry(entry, "either");
    if (read.kind !== "address") return undefined;
    const { hash } = this.#deps;
    return {
      mailbox: hash(`mailbox ${accountId} ${canonicalAddress(read.address)}`),
      spelling: hash(`spelling ${accountId} ${addressKey(read.address)}`),
    };
  }

  /** Undefined when the store cannot say. */
  async #known(accountId: string, mailboxes: readonly string[]): Promise<Seen | undefined> {
    const { spellings, clock, log } = this.#deps;
    const fromDay = dayOf(clock.nowMs()) - SPELLING_DAYS + 1;
    const seen: Seen = new Map(mailboxes.map((mailbox) => [mailbox, new Map()]));
    const add = ({ mailbox, spelling, day }: SpellingSighting): void => {
      if (day >= fromDay) seen.get(mailbox)?.set(spelling, day);
    };
    try {
      const asked = spellings.ofMailboxes(accountId, mailboxes, fromDay);
      const found = await inTime(asked, { timeoutMs: ANSWER_MS, late: undefined, clock });
      if (found === undefined) throw new Error("own traffic: the store does not answer");
      found.forEach(add);
    } catch (fault) {
      log.error("own_traffic.read_failed", fault);
      return undefined;
    }
    for (const mailbox of mailboxes) {
      const key = keyOf(accountId, mailbox);
      for (const sightings of this.#waiting.under(key)) sightings.forEach(add);
    }
    return seen;
  }

  /** Adds the sight to `seen` and, unless today has it already, to what is to be written. */
  #note(accountId: string, { mailbox, spelling }: Sight, seen: Seen | undefined): void {
    const day = dayOf(this.#deps.clock.nowMs());
    const known = seen?.get(mailbox);
    if (known?.get(spelling) === day) return;
    if (known?.has(spelling) === false && known.size >= MAILBOX_SPELLINGS_MAX) return;
    known?.set(spelling, day);
    const sighting = { accountId, mailbox, spelling, day };
    this.#waiting.note(keyOf(accountId, mailbox), new Map([[spelling, sighting]]));
  }
}

const keyOf = (accountId: string, mailbox: string): string => [accountId, mailbox].join(" ");
