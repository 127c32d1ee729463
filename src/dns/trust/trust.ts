import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { LookupOutcome } from "../cache.ts";
import { A, MX, NS, type RecordKind } from "../message/records.ts";
import type { Resolver } from "../resolver.ts";
import { parseDomain } from "../../core/name/domain.ts";
import type { Reply } from "../message/wire.ts";

/** What a server says to one question. `silent`: no answer, or none that can be read. */
type Word = "found" | "noName" | "noData" | "servfail" | "refused" | "silent";

type Canary = (resolver: Resolver) => Promise<Word>;

export interface Canaries {
  /** Who finds these asks the whole of the public DNS, and then must find the names. */
  readonly zones: readonly Canary[];
  readonly names: readonly Canary[];
  /** Of further zones, asked where one of the names was denied. */
  readonly further: readonly Canary[];
}

const BUILT_IN_MX = ["gmail.com", "outlook.com", "yahoo.com", "icloud.com", "qq.com"];
const FURTHER_MX = [
  "gmx.net",
  "comcast.net",
  "att.net",
  "debian.org",
  "apache.org",
  "web.de",
  "orange.fr",
  "docomo.ne.jp",
  "btinternet.com",
  "uol.com.br",
];

export function builtInCanaries(): Canaries {
  const zones = ["", "com"].map(
    (name): Canary =>
      (resolver) =>
        ask(resolver, name, NS),
  );
  return { zones, names: BUILT_IN_MX.map(mailCanary), further: FURTHER_MX.map(mailCanary) };
}

export function namedCanaries(asked: readonly string[]): Canaries {
  const names = asked.map((name): Canary => async (resolver) => {
    const word = await ask(resolver, name, MX);
    return word === "found" || word === "silent" ? word : ask(resolver, name, A);
  });
  return { zones: [], names, further: [] };
}

export function parseCanaries(text: string): readonly string[] {
  if (text.trim().toLowerCase() === "off") return [];
  return text.split(",").map((piece) => {
    const domain = parseDomain(piece.trim());
    if (!domain.ok) throw new Error(`"${piece}" is not a domain name`);
    return domain.value.name;
  });
}

const mailCanary =
  (name: string): Canary =>
  (resolver) =>
    ask(resolver, name, MX);

export function ask<T>(resolver: Resolver, name: string, kind: RecordKind<T>): Promise<Word> {
  return new Promise((resolve) =>
    resolver.ask({ name, kind }, (reply: Reply<T>) => resolve(wordOf(reply))),
  );
}

function wordOf(reply: Reply<unknown>): Word {
  if (reply.kind === "found" || reply.kind === "alias") return "found";
  if (reply.kind === "absent") return reply.why;
  return reply.why === "servfail" || reply.why === "refused" ? reply.why : "silent";
}

function inventedNames(random: (count: number) => Uint8Array): readonly string[] {
  const label = (): string =>
    `gp${Buffer.from(random(10))
      .toString("hex")
      .replaceAll(/\d/g, (digit) => "ghijklmnop"[Number(digit)] ?? "x")}`;
  return [`${label()}.com`, `${label()}.invalid`, label()];
}

const DISTRUST_REASONS = {
  denies: "denies names that exist (NXDOMAIN for every name)",
  filters:
    "denies names that exist, although it finds others: it filters, or parts of the DNS are cut off",
  empty: "has no records for names that exist (an empty answer for every name)",
  wildcard: "answers every name with addresses, as a captive portal does",
  servfail: "answers SERVFAIL to every question",
  refused: "refuses every question (REFUSED); its access list may not allow this machine",
} as const;

type DistrustReason = keyof typeof DISTRUST_REASONS;

/** `good`: a name that must exist was found. `bad`: none was, and all answers agree. `open`: it proves nothing. */
type Round =
  { readonly kind: "good" | "open" } | { readonly kind: "bad"; readonly reason: DistrustReason };

const OPEN: Round = { kind: "open" };

const isFiltering = (round: Round): boolean => round.kind === "bad" && round.reason === "filters";

async function askRound({ resolver, random, canaries }: TrustDeps): Promise<Round> {
  const { zones, names, further } = canaries;
  const asked = (group: readonly Canary[]): Promise<readonly Word[]> =>
    Promise.all(group.map((canary) => canary(resolver)));
  const [ofZones, ofNames] = await Promise.all([asked(zones), asked(names)]);
  const isPublic = ofZones.length > 0 && ofZones.every((word) => word === "found");
  const denied = isPublic ? countNo(ofNames) : 0;
  if (denied > 0 && denied + countNo(await asked(further)) >= DENIED_LEAST) {
    return { kind: "bad", reason: "filters" };
  }
  const words = [...ofZones, ...ofNames];
  if (words.includes("found")) return { kind: "good" };
  const told = words.filter((word) => word !== "silent");
  // A path that loses half of its packets must not decide by the other half.
  if (told.length === 0 || told.length * 2 < words.length) return OPEN;
  const reason = reasonOf(told);
  if (reason !== "denies" && reason !== "empty") {
    return reason === undefined ? OPEN : { kind: "bad", reason };
  }
  const invented = inventedNames(random);
  const found = await Promise.all(invented.map((name) => ask(resolver, name, A)));
  if (!found.includes("found")) return { kind: "bad", reason };
  // A server with mail servers for every name is a test server: its answers are never "no".
  const mail = await Promise.all(invented.map((name) => ask(resolver, name, MX)));
  return mail.includes("found") ? OPEN : { kind: "bad", reason: "wildcard" };
}

/** One name may have gone; two of those that half of the world uses have not. */
const DENIED_LEAST = 2;

const countNo = (words: readonly Word[]): number =>
  words.filter((word) => word === "noName" || word === "noData").length;

/** Undefined when the answers differ: a server that tells names apart knows some of them. */
function reasonOf(words: readonly Word[]): DistrustReason | undefined {
  if (words.every((word) => word === "noName" || word === "noData")) {
    return words.includes("noName") ? "denies" : "empty";
  }
  if (words.every((word) => word === "servfail")) return "servfail";
  return words.every((word) => word === "refused") ? "refused" : undefined;
}

/** For how long after a name was found an answer of "no" is believed; a busy service finds names all the time. */
const FRESH_MS = 50;
/** The same in a closed network, whose own names serve as canaries and are asked for less often. */
const FRESH_CLOSED_MS = 1_000;
/** An answer of "no" waits up to this long for a canary, and is believed when none has answered by then. */
const WAIT_MS = 1_000;
const REPEAT_MS = 200;
/** Between rounds: while all is well, and while suspect. */
const ROUND_EVERY_MS = 60_000;
const RECHECK_AFTER_MS = 2_000;
/** Bad rounds this far apart make the server suspect: sooner where names were found before. */
const CONFIRM_AFTER_MS = 5_000;
const CONFIRM_TURNED_AFTER_MS = 1_000;
/** A server that said "yes" or "no" within this time does not refuse everything. */
const TOLD_MS = 60_000;
const LEARNED_MAX = 8;

/** Never delegated (RFC 6761): a real resolver denies them too, so a "no" does no harm. */
const TEST_NAME = /(?:^|\.)(?:test|example)$/;

export interface TrustDeps {
  readonly resolver: Resolver;
  readonly random: (count: number) => Uint8Array;
  readonly clock: Clock;
  readonly log: Log;
  readonly servers: string;
  readonly canaries: Canaries;
}

export interface TrustFault {
  readonly says: string;
  readonly toDo: string;
}

export interface TrustStats {
  readonly suspect: DistrustReason | undefined;
  readonly withheld: number;
}

/** Whether the resolver tells the truth, by names whose answer is known. Decision 0002 has the rules and why. */
export class Trust {
  readonly #deps: TrustDeps;
  readonly #clock: Clock;
  #suspect: DistrustReason | undefined;
  #withheld = 0;
  epoch = 0;
  readonly #forgetters: (() => void)[] = [];
  #foundMs = -Infinity;
  #everFound = false;
  #hasCanaries = false;
  readonly #learned = new Map<string, Canary>();
  #round: Promise<Round> | undefined;
  #quick: Promise<Round> | undefined;
  #last: Round = { kind: "open" };
  #lastMs = -Infinity;
  #toldMs = -Infinity;
  #firstBadMs: number | undefined;
  #goodRounds = 0;
  #nextCanary = 0;
  #cancel = (): void => undefined;
  #isClosed = false;

  constructor(deps: TrustDeps) {
    this.#deps = deps;
    this.#clock = deps.clock;
  }

  get suspect(): DistrustReason | undefined {
    return this.#suspect;
  }

  stats(): TrustStats {
    return { suspect: this.#suspect, withheld: this.#withheld };
  }

  /** What is wrong with the resolver and what to do; undefined while it is trusted. */
  fault(): TrustFault | undefined {
    const { servers } = this.#deps;
    const reason = this.#suspect ?? (this.#last.kind === "bad" ? this.#last.reason : undefined);
    if (reason === undefined) return undefined;
    return {
      says: `DNS server ${servers} ${DISTRUST_REASONS[reason]}. Its "no" is not trusted.`,
      toDo: "Set GATEPOST_DNS_SERVERS to a working resolver or, in a closed network, GATEPOST_DNS_CANARIES to names that it has.",
    };
  }

  async round(): Promise<TrustFault | undefined> {
    await this.#ask();
    return this.fault();
  }

  onSuspect(forget: () => void): void {
    this.#forgetters.push(forget);
  }

  start(): void {
    void this.#ask();
  }

  async answers(): Promise<boolean> {
    if (this.#suspect !== undefined) return false;
    void this.#confirm();
    return (await ask(this.#deps.resolver, "", NS)) !== "silent";
  }

  /** Passes the outcome on: as it is, or as `unknown` when it is a "no" that must not be believed. */
  examine<T>(
    name: string,
    outcome: LookupOutcome<T>,
    told: (outcome: LookupOutcome<T>) => void,
  ): void {
    if (outcome.kind === "unknown") {
      const isTold = outcome.why === "servfail" || outcome.why === "refused";
      if (isTold && !this.#isFresh()) void this.#confirm();
    } else this.#toldMs = this.#clock.monotonicMs();
    if (outcome.kind !== "absent" || this.#isExempt(name)) told(outcome);
    else if (this.#suspect !== undefined || isFiltering(this.#last)) this.#withhold(told);
    else if (this.#isFresh()) told(outcome);
    else {
      void this.#confirm().then((round) => {
        if (this.#isLie(outcome.why, round)) this.#withhold(told);
        else told(outcome);
      });
    }
  }

  /** A mail server was found for `name`, by traffic. Addresses prove nothing: a captive portal gives them to all. */
  learn(name: string): void {
    this.#wasFound();
    if (this.#hasCanaries || this.#learned.has(name)) return;
    if (this.#learned.size >= LEARNED_MAX) {
      const [oldest] = this.#learned.keys();
      if (oldest !== undefined) this.#learned.delete(oldest);
    }
    this.#learned.set(name, mailCanary(name));
    // Suspicion that began before any name was found is unfounded: the server knows other names than ours.
    if (this.#suspect !== undefined) this.#clear();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
    this.#deps.resolver.close();
  }

  #withhold<T>(done: (outcome: LookupOutcome<T>) => void): void {
    this.#withheld += 1;
    done({ kind: "unknown", why: "suspect" });
  }

  #wasFound(): void {
    this.#foundMs = this.#clock.monotonicMs();
    this.#everFound = true;
  }

  #isExempt(name: string): boolean {
    return !this.#everFound && TEST_NAME.test(name);
  }

  #isFresh(): boolean {
    const freshMs = this.#hasCanaries ? FRESH_MS : FRESH_CLOSED_MS;
    return this.#clock.monotonicMs() - this.#foundMs <= freshMs;
  }

  #isLie(why: "noName" | "noData", round: Round): boolean {
    if (this.#suspect !== undefined) return true;
    if (round.kind !== "bad" || this.#isFresh()) return false;
    if (round.reason === "servfail" || round.reason === "refused") return false; // it tells names apart
    // It denies the canaries and has this name without such a record: it knows the name.
    return !(round.reason === "denies" && why === "noData");
  }

  /** The quickest proof that names are still found; a whole round when there is none. */
  async #confirm(): Promise<Round> {
    const round = this.#suspect === undefined && this.#everFound ? this.#askOne() : this.#ask();
    let cancel = (): void => undefined;
    const late = new Promise<Round>((resolve) => {
      cancel = this.#clock.after(WAIT_MS, () => resolve({ kind: "open" }));
    });
    const first = await Promise.race([round, late]);
    cancel();
    return first;
  }

  #askOne(): Promise<Round> {
    this.#quick ??= this.#askOneNow().finally(() => (this.#quick = undefined));
    return this.#quick;
  }

  async #askOneNow(): Promise<Round> {
    const { zones, names: named } = this.#deps.canaries;
    const names = this.#hasCanaries ? [...zones, ...named] : [...this.#learned.values()];
    this.#nextCanary += 1;
    const canary = names[this.#nextCanary % Math.max(1, names.length)];
    if (canary !== undefined && (await canary(this.#deps.resolver)) === "found") {
      this.#wasFound();
      return { kind: "good" };
    }
    return this.#ask();
  }

  #ask(): Promise<Round> {
    if (this.#clock.monotonicMs() - this.#lastMs < REPEAT_MS) return Promise.resolve(this.#last);
    this.#round ??= this.#askNow().finally(() => (this.#round = undefined));
    return this.#round;
  }

  async #askNow(): Promise<Round> {
    const startedMs = this.#clock.monotonicMs();
    let round = await askRound(this.#deps);
    if (round.kind === "good" || isFiltering(round)) this.#hasCanaries = true;
    else if (this.#learned.size > 0) {
      const words = await Promise.all(
        [...this.#learned.values()].slice(-3).map((canary) => canary(this.#deps.resolver)),
      );
      if (words.includes("found")) round = { kind: "good" };
    }
    if (this.#isRefuted(round, startedMs)) round = { kind: "open" };
    if (!this.#isClosed) this.#judge(round);
    return round;
  }

  #isRefuted(round: Round, startedMs: number): boolean {
    if (round.kind !== "bad" || isFiltering(round)) return false;
    if (this.#foundMs >= startedMs) return true;
    const refuses = round.reason === "servfail" || round.reason === "refused";
    return refuses && startedMs - this.#toldMs < TOLD_MS && !this.#hasCanaries;
  }

  #judge(round: Round): void {
    const nowMs = this.#clock.monotonicMs();
    this.#last = round;
    this.#lastMs = nowMs;
    if (round.kind === "bad") {
      this.#goodRounds = 0;
      this.#firstBadMs ??= nowMs;
      const isConfirmed = nowMs - this.#firstBadMs >= this.#confirmAfterMs();
      if (isConfirmed && this.#suspect !== round.reason) this.#declare(round.reason);
    } else {
      this.#firstBadMs = undefined;
      if (round.kind === "good") this.#wasFound();
      this.#goodRounds += round.kind === "good" ? 1 : 0;
      if (this.#suspect !== undefined && this.#goodRounds >= 2) this.#clear();
    }
    this.#cancel();
    this.#cancel = this.#clock.after(this.#pauseMs(), () => this.start());
  }

  #pauseMs(): number {
    if (this.#suspect !== undefined) return RECHECK_AFTER_MS;
    return this.#last.kind === "bad" ? this.#confirmAfterMs() : ROUND_EVERY_MS;
  }

  #confirmAfterMs(): number {
    return this.#everFound ? CONFIRM_TURNED_AFTER_MS : CONFIRM_AFTER_MS;
  }

  #declare(reason: DistrustReason): void {
    if (this.#suspect === undefined) {
      this.epoch += 1;
      for (const forget of this.#forgetters) forget();
    }
    this.#suspect = reason;
    const { log, servers } = this.#deps;
    log.warn("dns.suspect", { servers, reason, says: DISTRUST_REASONS[reason] });
  }

  #clear(): void {
    this.#suspect = undefined;
    this.#firstBadMs = undefined;
    this.#goodRounds = 0;
    this.#deps.log.info("dns.trusted_again", { servers: this.#deps.servers });
  }
}
