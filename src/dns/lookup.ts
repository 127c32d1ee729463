import type { Answer, Awaitable, Lookup, MailExchange } from "../core/mail/lookup.ts";
import { isReachable } from "../core/name/ip-address.ts";
import type { OwnerKey } from "../base/owner.ts";
import { AwakeClock, type Clock } from "../base/clock.ts";
import { AnswerCache, CachedFetcher, type FetchRecords, type LookupOutcome } from "./cache.ts";
import { A, AAAA, MX, NS, type RecordKind, TXT } from "./message/records.ts";
import type { Resolver } from "./resolver.ts";
import { EXCHANGE_MAX_MS, type ResolverStats, type PendingQuestion } from "./query.ts";
import type { Trust } from "./trust/trust.ts";
import { triedExchanges } from "../core/mail/mail-hosts.ts";
import type { Reply } from "./message/wire.ts";

const ASKS_MAX = 8;

interface Chase<T> {
  readonly question: PendingQuestion<T>;
  readonly resolver: Resolver;
  readonly clock: Clock;
  readonly done: (outcome: LookupOutcome<T>) => void;
}

/** Calls `done` once, with the answer at the end of all aliases. Most names have none, so the first question makes nothing for them. */
function ask<T>(chase: Chase<T>): void {
  chase.resolver.ask(chase.question, (reply, spentMs) => {
    if (reply.kind === "alias") followAliases(chase, reply, EXCHANGE_MAX_MS - spentMs);
    else chase.done(reply);
  });
}

/** At most 8 questions, within 5 s of the first try. A loop is "malformed". */
function followAliases<T>(
  { question, resolver, clock, done }: Chase<T>,
  first: AliasReply,
  leftMs: number,
): void {
  const seen = new Set([question.name]);
  let leastTtlSeconds = Infinity;
  let isDone = false;
  const finish = (outcome: LookupOutcome<T>): void => {
    if (isDone) return;
    isDone = true;
    cancelDeadline();
    if (outcome.kind === "unknown" || outcome.ttlSeconds === undefined) done(outcome);
    else done({ ...outcome, ttlSeconds: Math.min(outcome.ttlSeconds, leastTtlSeconds) });
  };
  const unknown = (why: "deadline" | "malformed"): void => finish({ kind: "unknown", why });
  const cancelDeadline = clock.after(Math.max(0, leftMs), () => unknown("deadline"));
  const follow = ({ target, ttlSeconds }: AliasReply): void => {
    leastTtlSeconds = Math.min(leastTtlSeconds, ttlSeconds);
    if (question.until?.isPast === true) unknown("deadline");
    else if (target === "" || seen.has(target) || seen.size >= ASKS_MAX) unknown("malformed");
    else {
      seen.add(target);
      resolver.ask({ ...question, name: target }, (reply) => {
        if (reply.kind !== "alias") finish(reply);
        else if (!isDone) follow(reply);
      });
    }
  };
  follow(first);
}

type AliasReply = Extract<Reply<unknown>, { kind: "alias" }>;

const KEPT_LENGTH_MAX = 16;
const KEPT_NAMES_MAX_OCTETS = 512;

/** Servers turn equal MX records around. Of a long list what cannot be tried is not kept. */
export function keptExchanges(records: readonly MailExchange[]): readonly MailExchange[] {
  const sorted = records.length > 1 ? records.toSorted(byPreference) : records;
  return isLong(sorted) ? shortened(sorted) : sorted;
}

const isLong = (list: readonly MailExchange[]): boolean =>
  list.length > KEPT_LENGTH_MAX ||
  list.reduce((octets, { host }) => octets + host.length, 0) > KEPT_NAMES_MAX_OCTETS;

/** Where none can be tried one is kept, which still tells a null MX from hosts that cannot be used. */
function shortened(list: readonly MailExchange[]): readonly MailExchange[] {
  const tried = triedExchanges(list);
  if (tried.length > 0) return tried;
  return list.toSorted((one, other) => other.host.length - one.host.length).slice(0, 1);
}

function byPreference(a: MailExchange, b: MailExchange): number {
  return a.preference - b.preference || (a.host < b.host ? -1 : Number(a.host > b.host));
}

export type DnsQuestions = Pick<Lookup, "mx" | "addresses" | "txt">;

const CACHE_COUNTS = ["size", "hits", "misses", "joined", "refreshed"] as const;

export type CacheStats = Readonly<Record<(typeof CACHE_COUNTS)[number], number>>;

export interface DnsStats extends ResolverStats {
  readonly cache: CacheStats;
}

export interface DnsLookup extends DnsQuestions {
  readonly again: DnsQuestions;
  /** A and AAAA together, to connect to: the network may have one of both alone. Found when either has records. */
  readonly everyAddress: (host: string) => Awaitable<Answer<string>>;
  /** Undefined while few questions of the owner wait; the program's own without one. */
  room(by?: OwnerKey): Promise<void> | undefined;
  stats(): DnsStats;
  probe(): Promise<boolean>;
  close(): void;
}

export interface LookupOptions {
  /** All types together; half is for MX, a third for addresses of either kind, the rest for TXT. 32 MiB unless given. */
  readonly cacheOctets?: number | undefined;
  readonly clock: Clock;
  readonly trust?: Trust | undefined;
}

const CACHE_OCTETS = 32 * 1_048_576;

export function createDnsLookup(
  resolver: Resolver,
  { cacheOctets = CACHE_OCTETS, clock, trust }: LookupOptions,
): DnsLookup {
  const awake = new AwakeClock(clock);
  const fetch = <T>(kind: RecordKind<T>): FetchRecords<T> => {
    return (name, done, { by, until }) =>
      ask({ question: { name, kind, by, until }, resolver, clock: awake, done });
  };
  const cache = <T>(share: number, sizeOctets: (record: T) => number): AnswerCache<T> =>
    new AnswerCache({ octetsMax: cacheOctets * share, clock, sizeOctets });
  const textOctets = (text: string): number => text.length;
  const exchangeOctets = ({ host }: MailExchange): number => host.length;
  const mail = fetchMail(fetch(MX), trust);
  const mx = new CachedFetcher(cache(1 / 2, exchangeOctets), examined(mail, trust));
  const [a, aaaa] = [fetch(A), fetch(AAAA)];
  const addresses = new CachedFetcher(cache(1 / 4, textOctets), examined(forMail(a, aaaa), trust));
  const everyAddress = new CachedFetcher(cache(1 / 12, textOctets), examined(both(a, aaaa), trust));
  const txt = new CachedFetcher(cache(1 / 6, textOctets), examined(fetch(TXT), trust));
  const lines = [mx, addresses, everyAddress, txt];
  trust?.onDistrust(() => {
    for (const line of lines) line.forgetAbsent();
  });
  const questionsOf = (isAgain: boolean): DnsQuestions => ({
    mx: (name, by, until) => mx.ask(name, { by, until }, isAgain),
    addresses: (host, by, until) => addresses.ask(host, { by, until }, isAgain),
    txt(name, by, until) {
      const answer = txt.ask(name, { by, until }, isAgain);
      if (answer instanceof Promise || !isLongText(answer)) return answer;
      return new Promise((resolve) => clock.after(0, () => resolve(answer)));
    },
  });
  let probing: Promise<boolean> | undefined;
  return {
    ...questionsOf(false),
    again: questionsOf(true),
    everyAddress: (host) => everyAddress.ask(host, {}),
    room: (by) => resolver.room(by),
    stats: () => ({ ...resolver.stats(), cache: total(lines) }),
    probe() {
      probing ??= probe(resolver).finally(() => (probing = undefined));
      return probing;
    },
    close: () => resolver.close(),
  };
}

const LONG_TEXT = 4_096;

/** What reads kept texts of this length one after the other would do so in one turn of the event loop: each gets its own. */
const isLongText = (answer: Answer<string>): boolean =>
  answer.kind === "found" && answer.records.some(({ length }) => length > LONG_TEXT);

function total(lines: readonly CacheStats[]): CacheStats {
  const sum = (name: keyof CacheStats): number => lines.reduce((all, line) => all + line[name], 0);
  return Object.fromEntries(CACHE_COUNTS.map((name) => [name, sum(name)])) as CacheStats;
}

/** Asks for the name servers of the root. A server that serves only its own zones answers REFUSED, and works. */
function probe(resolver: Resolver): Promise<boolean> {
  return new Promise((resolve) => {
    resolver.ask({ name: "", kind: NS }, (reply) => {
      const says = reply.kind !== "unknown" || reply.why === "servfail" || reply.why === "refused";
      resolve(says);
    });
  });
}

function fetchMail(
  fetch: FetchRecords<MailExchange>,
  trust: Trust | undefined,
): FetchRecords<MailExchange> {
  return (name, done, asked) => {
    const answer = (outcome: LookupOutcome<MailExchange>): void => {
      if (outcome.kind === "found") {
        trust?.learn(name);
        done({ ...outcome, records: keptExchanges(outcome.records) });
      } else done(outcome);
    };
    fetch(name, answer, asked);
  };
}

function examined<T>(fetch: FetchRecords<T>, trust: Trust | undefined): FetchRecords<T> {
  if (trust === undefined) return fetch;
  return (name, done, asked) => fetch(name, (outcome) => trust.examine(name, outcome, done), asked);
}

/** AAAA only when mail reaches none of what A says: else it changes no verdict. Silent about A: not asked again. */
function forMail(a: FetchRecords<string>, aaaa: FetchRecords<string>): FetchRecords<string> {
  return (name, done, asked) => {
    const answer = (first: LookupOutcome<string>): void => {
      if (isEnough(first)) done(first);
      else if (asked.until?.isPast === true) done({ kind: "unknown", why: "deadline" });
      else aaaa(name, (second) => done(join(first, second)), asked);
    };
    a(name, answer, asked);
  };
}

function isEnough(outcome: LookupOutcome<string>): boolean {
  if (outcome.kind === "found") return outcome.records.some(isReachable);
  return outcome.kind === "unknown" && (outcome.why === "timeout" || outcome.why === "deadline");
}

/** In the order of the two, whichever comes first: the same question gets the same answer. */
function both<T>(first: FetchRecords<T>, second: FetchRecords<T>): FetchRecords<T> {
  return (name, done, asked) => {
    const ended: LookupOutcome<T>[] = [];
    const end = (at: 0 | 1) => (outcome: LookupOutcome<T>) => {
      ended[at] = outcome;
      const [one, other] = ended;
      if (one !== undefined && other !== undefined) done(join(one, other));
    };
    first(name, end(0), asked);
    second(name, end(1), asked);
  };
}

/** Found when either is; absent only when both are, and without a name when either says so (RFC 8020). */
export function join<T>(a: LookupOutcome<T>, b: LookupOutcome<T>): LookupOutcome<T> {
  if (a.kind === "found" || b.kind === "found") {
    const ttlSeconds = Math.min(foundTtlSeconds(a), foundTtlSeconds(b));
    return { kind: "found", records: [...recordsOf(a), ...recordsOf(b)], ttlSeconds };
  }
  if (a.kind === "unknown") return a;
  if (b.kind === "unknown") return b;
  const why = a.why === "noName" || b.why === "noName" ? "noName" : "noData";
  if (a.ttlSeconds === undefined || b.ttlSeconds === undefined) {
    return { kind: "absent", why, ttlSeconds: undefined };
  }
  return { kind: "absent", why, ttlSeconds: Math.min(a.ttlSeconds, b.ttlSeconds) };
}

const recordsOf = <T>(outcome: LookupOutcome<T>): readonly T[] =>
  outcome.kind === "found" ? outcome.records : [];

/** 0 for `unknown`, so that half an answer is kept as briefly as possible; `absent` sets no limit. */
function foundTtlSeconds(outcome: LookupOutcome<unknown>): number {
  if (outcome.kind === "unknown") return 0;
  return outcome.kind === "found" ? outcome.ttlSeconds : Infinity;
}
