import { type Clock, inTime } from "../../base/clock.ts";
import type { Trouble } from "../../base/health.ts";
import type { Log } from "../../base/log.ts";
import type { LookupOutcome } from "../cache.ts";
import { A, MX, NS, type RecordKind } from "../message/records.ts";
import type { Resolver } from "../resolver.ts";
import { dayOf } from "../../core/calendar.ts";
import { parseDomain } from "../../core/name/domain.ts";
import type { Reply } from "../message/wire.ts";

/** What a server says to one question. `silent`: no answer, or none that can be read. */
type CanaryAnswer = "found" | "noName" | "noData" | "servfail" | "refused" | "silent";

/** A name that must exist, and what is asked of it one after the other until something is found. */
interface Canary {
  readonly name: string;
  readonly kinds: readonly RecordKind<unknown>[];
}

interface Canaries {
  /** Who finds these asks the whole of the public DNS, and then must find the names. */
  readonly zones: readonly Canary[];
  readonly names: readonly Canary[];
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

const ask = (resolver: Resolver, name: string, kind: RecordKind<unknown>): Promise<CanaryAnswer> =>
  new Promise((resolve) => resolver.ask({ name, kind }, (reply) => resolve(canaryAnswer(reply))));

async function answerOn({ name, kinds }: Canary, resolver: Resolver): Promise<CanaryAnswer> {
  let answer: CanaryAnswer = "silent";
  for (const kind of kinds) {
    answer = await ask(resolver, name, kind);
    if (answer === "found" || answer === "silent") break;
  }
  return answer;
}

const answersOn = (
  canaries: readonly Canary[],
  resolver: Resolver,
): Promise<readonly CanaryAnswer[]> =>
  Promise.all(canaries.map((canary) => answerOn(canary, resolver)));

function canaryAnswer(reply: Reply<unknown>): CanaryAnswer {
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
    answersOn(zones, resolver),
    answersOn(names, resolver),
  ]);
  const isPublic = ofZones.length > 0 && ofZones.every((answer) => answer === "found");
  const denied = isPublic ? countNo(ofNames) : 0;
  if (denied > 0 && denied + countNo(await answersOn(further, resolver)) >= DENIED_LEAST) {
    return "filters";
  }
  const answers = [...ofZones, ...ofNames];
  if (answers.includes("found")) return "good";
  const answered = answers.filter((answer) => answer !== "silent");
  // A path that loses half of its packets must not decide by the other half.
  if (answered.length === 0 || answered.length * 2 < answers.length) return "open";
  const reason = reasonOf(answered);
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

const countNo = (answers: readonly CanaryAnswer[]): number =>
  answers.filter((answer) => answer === "noName" || answer === "noData").length;

/** Undefined when the answers differ: a server that tells names apart knows some of them. */
function reasonOf(answers: readonly CanaryAnswer[]): DistrustReason | undefined {
  if (answers.every((answer) => answer === "noName" || answer === "noData")) {
    return answers.includes("noName") ? "denies" : "empty";
  }
  if (answers.every((answer) => answer === "servfail")) return "servfail";
  return answers.every((answer) => answer === "refused") ? "refused" : undefined;
}

/** For how long after a name was found an answer of "no" is believed; a busy service finds names all the time. */
const FRESH_MS = 50;
/** The same in a closed network, whose own names serve as canaries and are asked for less often. */
const FRESH_CLOSED_MS = 1_000;
/** An answer of "no" waits up to this long for a canary, and is believed when none has answered by then. */
const WAIT_MS = 1_000;
const REPEAT_MS = 200;
const ROUND_EVERY_MS = 60_000;
const RECHECK_AFTER_MS = 2_000;
/** Bad rounds this far apart make the server suspect: sooner where names were found before. */
const CONFIRM_AFTER_MS = 5_000;
const CONFIRM_TURNED_AFTER_MS = 1_000;
/** A server that said "yes" or "no" within this time does not refuse everything. */
const ANSWERED_MS = 60_000;
const LEARNED_MAX = 8;

const FILTERED_NAMES_MAX = 10_000;

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

export interface TrustStats {
  readonly distrusted: DistrustReason | undefined;
  readonly replacedByUnknown: number;
  readonly filteredToday: number;
  /** Names that do not exist have addresses, while others are answered rightly. */
  readonly invents: boolean;
}

/** Whether the resolver tells the truth, by names whose answer is known. Decision 0002 has the rules and why. */
export class Trust {
  readonly #deps: TrustDeps;
  readonly #clock: Clock;
  #distrusted: DistrustReason | undefined;
  #replacedByUnknown = 0;
  #filteredDay = -1;
  readonly #filtered = new Set<string>();
  #invents = false;
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
  #answeredMs = -Infinity;
  #firstBadMs: number | undefined;
  #goodRounds = 0;
  #nextCanary = 0;
  #cancel = (): void => undefined;
  #isClosed = false;

  constructor(deps: TrustDeps) {
    this.#deps = deps;
    this.#clock = deps.clock;
  }

  get distrusted(): DistrustReason | undefined {
    return this.#distrusted;
  }

  stats(): TrustStats {
    const filteredToday = this.#today() === this.#filteredDay ? this.#filtered.size : 0;
    return {
      distrusted: this.#distrusted,
      replacedByUnknown: this.#replacedByUnknown,
      filteredToday,
      invents: this.#invents,
    };
  }

  #today(): number {
    return dayOf(this.#clock.nowMs());
  }

  /** One log event a day, with the names of the day before. */
  #countFiltered(name: string): void {
    const today = this.#today();
    if (today !== this.#filteredDay) {
      const names_yesterday = today - 1 === this.#filteredDay ? this.#filtered.size : 0;
      this.#filteredDay = today;
      this.#filtered.clear();
      this.#deps.log.warn("dns.filtered", { servers: this.#deps.servers, names_yesterday });
    }
    if (this.#filtered.size < FILTERED_NAMES_MAX) this.#filtered.add(name);
  }

  fault(): Trouble | undefined {
    const { servers } = this.#deps;
    const reason = this.#distrusted ?? (isBad(this.#last) ? this.#last : undefined);
    if (reason === undefined) return undefined;
    return {
      says: `DNS server ${servers} ${DISTRUST_REASONS[reason]}. Its "no" is not trusted.`,
      toDo: "Set GATEPOST_DNS_SERVERS to a working resolver or, in a closed network, GATEPOST_DNS_CANARIES to names that it has.",
    };
  }

  async round(): Promise<Trouble | undefined> {
    await this.#ask();
    return this.fault();
  }

  onDistrust(forget: () => void): void {
    this.#forgetters.push(forget);
  }

  start(): void {
    void this.#ask();
  }

  async answers(): Promise<boolean> {
    if (this.#distrusted !== undefined) return false;
    void this.#confirm();
    return (await ask(this.#deps.resolver, "", NS)) !== "silent";
  }

  /** Passes the outcome on: as it is, or as `unknown` when it is a "no" that must not be believed. */
  examine<T>(
    name: string,
    outcome: LookupOutcome<T>,
    answered: (outcome: LookupOutcome<T>) => void,
  ): void {
    if (outcome.kind === "unknown") {
      if (outcome.why === "filtered") this.#countFiltered(name);
      const isAnswered = outcome.why === "servfail" || outcome.why === "refused";
      if (isAnswered && !this.#isFresh()) void this.#confirm();
    } else this.#answeredMs = this.#clock.monotonicMs();
    const isExempt = !this.#everFound && TEST_NAME.test(name);
    if (outcome.kind !== "absent" || isExempt) answered(outcome);
    else if (this.#distrusted !== undefined || this.#last === "filters") this.#replace(answered);
    else if (this.#isFresh()) answered(outcome);
    else {
      void this.#confirm().then((round) => {
        if (this.#isLie(outcome.why, round)) this.#replace(answered);
        else answered(outcome);
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
    if (this.#distrusted !== undefined) this.#clear();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
    this.#deps.resolver.close();
  }

  #replace<T>(done: (outcome: LookupOutcome<T>) => void): void {
    this.#replacedByUnknown += 1;
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
    if (this.#distrusted !== undefined) return true;
    if (!isBad(round) || this.#isFresh()) return false;
    if (round === "servfail" || round === "refused") return false; // it tells names apart
    // It denies the canaries and has this name without such a record: it knows the name.
    return !(round === "denies" && why === "noData");
  }

  /** The quickest proof that names are still found; a whole round when there is none. */
  async #confirm(): Promise<Round> {
    const round = this.#distrusted === undefined && this.#everFound ? this.#askOne() : this.#ask();
    return await inTime(round, { timeoutMs: WAIT_MS, late: "open", clock: this.#clock });
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
    if (canary !== undefined && (await answerOn(canary, this.#deps.resolver)) === "found") {
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
    if (round === "good") await this.#askInvented();
    if (round === "good" || round === "filters") this.#hasCanaries = true;
    else if (this.#learned.size > 0) {
      const learned = [...this.#learned.values()].slice(-3);
      if ((await answersOn(learned, this.#deps.resolver)).includes("found")) round = "good";
    }
    if (this.#isRefuted(round, startedMs)) round = "open";
    if (!this.#isClosed) this.#judge(round);
    return round;
  }

  /** A resolver that finds every name is a test server, as in `askRound`. */
  async #askInvented(): Promise<void> {
    const { resolver, random } = this.#deps;
    const [name = ""] = inventedNames(random);
    const answer = await ask(resolver, name, A);
    if (answer === "silent") return;
    this.#invents = answer === "found" && (await ask(resolver, name, MX)) !== "found";
  }

  #isRefuted(round: Round, startedMs: number): boolean {
    if (!isBad(round) || round === "filters") return false;
    if (this.#foundMs >= startedMs) return true;
    const refuses = round === "servfail" || round === "refused";
    return refuses && startedMs - this.#answeredMs < ANSWERED_MS && !this.#hasCanaries;
  }

  #judge(round: Round): void {
    const nowMs = this.#clock.monotonicMs();
    this.#last = round;
    this.#lastMs = nowMs;
    if (isBad(round)) {
      this.#goodRounds = 0;
      this.#firstBadMs ??= nowMs;
      const isConfirmed = nowMs - this.#firstBadMs >= this.#confirmAfterMs();
      if (isConfirmed && this.#distrusted !== round) this.#declare(round);
    } else {
      this.#firstBadMs = undefined;
      if (round === "good") {
        this.#wasFound();
        this.#goodRounds += 1;
      }
      if (this.#distrusted !== undefined && this.#goodRounds >= 2) this.#clear();
    }
    this.#cancel();
    const calmMs = isBad(round) ? this.#confirmAfterMs() : ROUND_EVERY_MS;
    const pauseMs = this.#distrusted === undefined ? calmMs : RECHECK_AFTER_MS;
    this.#cancel = this.#clock.after(pauseMs, () => this.start());
  }

  #confirmAfterMs(): number {
    return this.#everFound ? CONFIRM_TURNED_AFTER_MS : CONFIRM_AFTER_MS;
  }

  #declare(reason: DistrustReason): void {
    if (this.#distrusted === undefined) {
      this.epoch += 1;
      for (const forget of this.#forgetters) forget();
    }
    this.#distrusted = reason;
    const { log, servers } = this.#deps;
    log.warn("dns.suspect", { servers, reason, says: DISTRUST_REASONS[reason] });
  }

  #clear(): void {
    this.#distrusted = undefined;
    this.#firstBadMs = undefined;
    this.#goodRounds = 0;
    this.#deps.log.info("dns.trusted_again", { servers: this.#deps.servers });
  }
}
