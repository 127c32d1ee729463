import { addressKey } from "../../core/address/address.ts";
import { canonicalAddress } from "../../core/evidence/alias.ts";
import { dayOf } from "../../core/calendar.ts";
import { readEntry } from "../../core/address/entry.ts";
import type { Awaitable } from "../../core/mail/lookup.ts";
import { type Evidence, evidence } from "../../core/evidence/signals.ts";
import { FAMILY_EXCEPTIONS } from "../../core/tables/data.ts";
import type { AddressHash } from "../../ports/evidence/address-hash.ts";
import type { Clock } from "../../ports/process/clock.ts";
import { inTime } from "../../ports/process/in-time.ts";
import type { Log } from "../../ports/process/log.ts";
import type { OwnSpellings, SpellingSighting } from "../../ports/evidence/own-spellings.ts";
import type { Caller } from "../admission/caller.ts";
import { WriteBehind } from "../upkeep/write-behind.ts";

/** From this many spellings of one mailbox its addresses get `dot_scatter`. */
const SPELLINGS_MIN = 5;

/** From this many sub-names of one registrable domain on one UTC day its names get `own_subdomains`. */
const SUB_NAMES_MIN = 4;

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
const NOT_SEEN: Seen = { evidence: NOTHING };
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
      return (entry) => seen(entry).evidence;
    },
    async mailboxSeen(accountId, entry) {
      return (await counter.see(accountId, [entry]))(entry);
    },
    flush: () => counter.flush(),
  };
}

type Seen = MailboxSight;

type Sight = Omit<SpellingSighting, "day" | "accountId">;

/** What one entry shows: a spelling of a mailbox, and a name below a registrable domain, kept in the same way. */
interface Sights {
  readonly mailbox?: Sight;
  readonly subName?: Sight & { readonly registrable: string };
}

/** By mailbox, or by registrable domain, the last day of each spelling or name. */
type Known = Map<string, Map<string, number>>;

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

  /** By entry what its mailbox and its domain were seen with. */
  async see(accountId: string, entries: readonly string[]): Promise<(entry: string) => Seen> {
    const sights = new Map<string, Sights>();
    for (const entry of entries) {
      const shown = this.#sightsOf(accountId, entry);
      if (shown !== undefined) sights.set(entry, shown);
    }
    if (sights.size === 0) return () => NOT_SEEN;
    const all = [...sights.values()].flatMap(({ mailbox, subName }) =>
      [mailbox, subName].filter((sight): sight is Sight => sight !== undefined),
    );
    const known = await this.#known(accountId, [...new Set(all.map(({ mailbox }) => mailbox))]);
    for (const sight of all) this.#note(accountId, sight, known);
    // A store that could not say leaves it unsaid, also of what waits here.
    if (known === undefined) return () => NOT_SEEN;
    const today = dayOf(this.#deps.clock.nowMs());
    return (entry) => seenOf(sights.get(entry), known, today);
  }

  flush(): Promise<void> {
    return this.#waiting.flush().catch((fault: unknown) => this.#notWritten(fault, 0));
  }

  #notWritten(fault: unknown, lost: number): void {
    this.#deps.log.error("own_traffic.write_failed", fault, { lost });
  }

  /** The account is part of every hash, so that no two accounts' rows can be matched. */
  #sightsOf(accountId: string, entry: string): Sights | undefined {
    const read = readEntry(entry, "either");
    if (read.kind === "malformed") return undefined;
    const { hash } = this.#deps;
    const { name, privateRegistrableDomain: registrable = name } = read.domain;
    const mailbox = read.kind === "address" && {
      mailbox: hash(`mailbox ${accountId} ${canonicalAddress(read.address)}`),
      spelling: hash(`spelling ${accountId} ${addressKey(read.address)}`),
    };
    const subName = registrable !== name && {
      registrable,
      mailbox: hash(`domain ${accountId} ${registrable}`),
      spelling: hash(`name ${accountId} ${name}`),
    };
    return { ...(mailbox && { mailbox }), ...(subName && { subName }) };
  }

  /** Undefined when the store cannot say. */
  async #known(accountId: string, mailboxes: readonly string[]): Promise<Known | undefined> {
    const { spellings, clock, log } = this.#deps;
    const fromDay = dayOf(clock.nowMs()) - SPELLING_DAYS + 1;
    const seen: Known = new Map(mailboxes.map((mailbox) => [mailbox, new Map()]));
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
  #note(accountId: string, { mailbox, spelling }: Sight, seen: Known | undefined): void {
    const day = dayOf(this.#deps.clock.nowMs());
    const known = seen?.get(mailbox);
    if (known?.get(spelling) === day) return;
    if (known?.has(spelling) === false && known.size >= MAILBOX_SPELLINGS_MAX) return;
    known?.set(spelling, day);
    const sighting = { accountId, mailbox, spelling, day };
    this.#waiting.note(keyOf(accountId, mailbox), new Map([[spelling, sighting]]));
  }
}

function seenOf(sights: Sights | undefined, known: Known, today: number): Seen {
  const spellings = sights?.mailbox && known.get(sights.mailbox.mailbox)?.size;
  const scattered = (spellings ?? 0) >= SPELLINGS_MIN ? SCATTERED : NOTHING;
  const found = [...scattered, ...manySubNames(sights?.subName, known, today)];
  return { evidence: found, ...(spellings !== undefined && { seen: spellings }) };
}

function manySubNames(
  subName: Sights["subName"],
  known: Known,
  today: number,
): readonly Evidence[] {
  if (subName === undefined || FAMILY_EXCEPTIONS.has(subName.registrable)) return NOTHING;
  const days = [...(known.get(subName.mailbox)?.values() ?? [])];
  const isMany = days.filter((day) => day === today).length >= SUB_NAMES_MIN;
  return isMany ? [evidence("own_subdomains", { subject: subName.registrable })] : NOTHING;
}

const keyOf = (accountId: string, mailbox: string): string => [accountId, mailbox].join(" ");
