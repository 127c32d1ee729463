import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { LookupOutcome } from "../cache.ts";
import { A, MX, NS, type RecordKind } from "../message/records.ts";
import type { Resolver } from "../resolver.ts";
import { parseDomain } from "../../core/name/domain.ts";
import type { Reply } from "../message/wire.ts";

/** What a server says to one question. `silent`: no answer, or none that can be read. */
type Word = "found" | "noName" | "noData" | "servfail" | "refused" | "silent";

/** A name that must exist, and what is asked of it one after the other until something is found. */
interface Canary {
  readonly name: string;
  readonly kinds: readonly RecordKind<unknown>[];
}

interface Canaries {
  /** Who finds these asks the whole of the public DNS, and then must find the names. */
  readonly zones: readonly Canary[];
  readonly names: readonly Canary[];
  /** Of further zones, asked where one of the names was denied. */
  readonly further: readonly Canary[];
}

const withMail = (...names: readonly string[]): readonly Canary[] =>
  names.map((name) => ({ name, kinds: [MX] }));

const FURTHER_NAMES =
  "gmx.net comcast.net att.net debian.org apache.org web.de orange.fr docomo.ne.jp btinternet.com uol.com.br";

export const BUILT_IN_CANARIES: Canaries = {
  zones: ["", "com"].map((name) => ({ name, kinds: [NS] })),
  names: withMail("gmail.com", "outlook.com", "yahoo.com", "icloud.com", "qq.com"),
  further: withMail(...FURTHER_NAMES.split(" ")),
};

export const namedCanaries = (names: readonly string[]): Canaries => ({
  zones: [],
  names: names.map((name) => ({ name, kinds: [MX, A] })),
  further: [],
});

export function parseCanaries(text: string): readonly string[] {
  if (text.trim().toLowerCase() === "off") return [];
  return text.split(",").map((piece) => {
    const domain = parseDomain(piece.trim());
    if (!domain.ok) throw new Error(`"${piece}" is not a domain name`);
    return domain.value.name;
  });
}

const ask = (resolver: Resolver, name: string, kind: RecordKind<unknown>): Promise<Word> =>
  new Promise((resolve) => resolver.ask({ name, kind }, (reply) => resolve(wordOf(reply))));

async function wordOn({ name, kinds }: Canary, resolver: Resolver): Promise<Word> {
  let word: Word = "silent";
  for (const kind of kinds) {
    word = await ask(resolver, name, kind);
    if (word === "found" || word === "silent") break;
  }
  return word;
}

const wordsOn = (canaries: readonly Canary[], resolver: Resolver): Promise<readonly Word[]> =>
  Promise.all(canaries.map((canary) => wordOn(canary, resolver)));

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

/** `good`: a name that must exist was found. A reason: none was, and all answers agree. `open`: it proves nothing. */
type Round = "good" | "open" | DistrustReason;

const isBad = (round: Round): round is DistrustReason => round !== "good" && round !== "open";

async function askRound({ resolver, random, canaries }: TrustDeps): Promise<Round> {
  const { zones, names, further } = canaries;
  const [ofZones, ofNames] = await Promise.all([
    wordsOn(zones, resolver),
    wordsOn(names, resolver),
  ]);
  const isPublic = ofZones.length > 0 && ofZones.every((word) => word === "found");
  const denied = isPublic ? countNo(ofNames) : 0;
  if (denied > 0 && denied + countNo(await wordsOn(further, resolver)) >= DENIED_LEAST) {
    return "filters";
  }
  const words = [...ofZones, ...ofNames];
  if (words.includes("found")) return "good";
  const told = words.filter((word) => word !== "silent");
  // A path that loses half of its packets must not decide by the other half.
  if (told.length === 0 || told.length * 2 < words.length) return "open";
  const reason = reasonOf(told);
  if (reason !== "denies" && reason !== "empty") return reason ?? "open";
  const invented = inventedNames(random);
  const found = await Promise.all(invented.map((name) => ask(resolver, name, A)));
  if (!found.includes("found")) return reason;
  // A server with mail servers for every name is a test server: its answers are never "no".
  const mail = await Promise.all(invented.map((name) => ask(resolver, name, MX)));
  return mail.includes("found") ? "open" : "wildcard";
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

interface TrustDeps {
  readonly resolver: Resolver;
  readonly random: (count: number) => Uint8Array;
  readonly clock: Clock;
  readonly log: Log;
  readonly servers: string;
  readonly canaries: Canaries;
}

interface TrustFault {
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
  #last: Round = "open";
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
    const reason = this.#suspect ?? (isBad(this.#last) ? this.#last : undefined);
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
    const isExempt = !this.#everFound && TEST_NAME.test(name);
    if (outcome.kind !== "absent" || isExempt) told(outcome);
    else if (this.#suspect !== undefined || this.#last === "filters") this.#withhold(told);
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
    this.#learned.set(name, { name, kinds: [MX] });
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

  #isFresh(): boolean {
    const freshMs = this.#hasCanaries ? FRESH_MS : FRESH_CLOSED_MS;
    return this.#clock.monotonicMs() - this.#foundMs <= freshMs;
  }

  #isLie(why: "noName" | "noData", round: Round): boolean {
    if (this.#suspect !== undefined) return true;
    if (!isBad(round) || this.#isFresh()) return false;
    if (round === "servfail" || round === "refused") return false; // it tells names apart
    // It denies the canaries and has this name without such a record: it knows the name.
    return !(round === "denies" && why === "noData");
  }

  /** The quickest proof that names are still found; a whole round when there is none. */
  async #confirm(): Promise<Round> {
    const round = this.#suspect === undefined && this.#everFound ? this.#askOne() : this.#ask();
    let cancel = (): void => undefined;
    const late = new Promise<Round>((resolve) => {
      cancel = this.#clock.after(WAIT_MS, () => resolve("open"));
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
    if (canary !== undefined && (await wordOn(canary, this.#deps.resolver)) === "found") {
      this.#wasFound();
      return "good";
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
    if (round === "good" || round === "filters") this.#hasCanaries = true;
    else if (this.#learned.size > 0) {
      const learned = [...this.#learned.values()].slice(-3);
      if ((await wordsOn(learned, this.#deps.resolver)).includes("found")) round = "good";
    }
    if (this.#isRefuted(round, startedMs)) round = "open";
    if (!this.#isClosed) this.#judge(round);
    return round;
  }

  #isRefuted(round: Round, startedMs: number): boolean {
    if (!isBad(round) || round === "filters") return false;
    if (this.#foundMs >= startedMs) return true;
    const refuses = round === "servfail" || round === "refused";
    return refuses && startedMs - this.#toldMs < TOLD_MS && !this.#hasCanaries;
  }

  #judge(round: Round): void {
    const nowMs = this.#clock.monotonicMs();
    this.#last = round;
    this.#lastMs = nowMs;
    if (isBad(round)) {
      this.#goodRounds = 0;
      this.#firstBadMs ??= nowMs;
      const isConfirmed = nowMs - this.#firstBadMs >= this.#confirmAfterMs();
      if (isConfirmed && this.#suspect !== round) this.#declare(round);
    } else {
      this.#firstBadMs = undefined;
      if (round === "good") {
        this.#wasFound();
        this.#goodRounds += 1;
      }
      if (this.#suspect !== undefined && this.#goodRounds >= 2) this.#clear();
    }
    this.#cancel();
    const calmMs = isBad(round) ? this.#confirmAfterMs() : ROUND_EVERY_MS;
    const pauseMs = this.#suspect === undefined ? calmMs : RECHECK_AFTER_MS;
    this.#cancel = this.#clock.after(pauseMs, () => this.start());
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
