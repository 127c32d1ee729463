import { LRUCache } from "lru-cache";
import { entriesUpTo } from "../../base/entries.ts";
import { DAY_MS } from "../../core/calendar.ts";
import { isHostName } from "../../core/name/domain.ts";
import {
  type Answer,
  Askers,
  type Lookup,
  type Registration,
  type UnknownReason,
  type Until,
} from "../../core/mail/lookup.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { HttpReply, Outbound, OutboundFailure } from "../../outbound/outbound-types.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { NoRoom, type Shares } from "../../base/shares.ts";
import type { Bootstrap } from "./bootstrap-copy.ts";
import { readDomainAnswer, retryAfterMs } from "./domain-answer.ts";

export interface CachedRegistration {
  /** Milliseconds since the Unix epoch; undefined: the registry has no such domain, or no date for it. */
  readonly registeredAtMs: number | undefined;
  /** Milliseconds since the Unix epoch. At this instant the answer is gone. */
  readonly expiresAtMs: number;
}

/** Keeps what registries said. Rules are checked by `test/contracts/evidence/registration-cache.ts`. */
export interface RegistrationCache {
  /** Never returns an expired answer, pruned or not. */
  read(domain: string, nowMs: number): Promise<CachedRegistration | undefined>;
  save(domain: string, answer: CachedRegistration): Promise<void>;
}

const DOMAINS_MAX = 100_000;

/** Lives as long as the process; the domain that was asked longest ago goes first. */
export function memoryRegistrationCache(): RegistrationCache {
  const kept = new LRUCache<string, CachedRegistration>(entriesUpTo(DOMAINS_MAX));
  return {
    read(domain, nowMs) {
      const answer = kept.get(domain);
      const isFresh = answer !== undefined && answer.expiresAtMs > nowMs;
      return Promise.resolve(isFresh ? answer : undefined);
    },
    save(domain, answer) {
      kept.set(domain, answer);
      return Promise.resolve();
    },
  };
}

const WAIT_MS = 10_000;

const OPERATOR = "account:operator";

/** Registries send some 30 KB; 1 MiB of brackets took the thread 0.2 s. */
const BYTES_MAX = 131_072;
const REDIRECTS_MAX = 3;

/** How long a server that failed is not asked, and the bounds for the time that its Retry-After may name. */
const FAILED_MS = 5_000;
const BUSY_MS = 60_000;
const BUSY_MAX_MS = 3_600_000;

/** A date of registration never changes while the domain lives; a name without one may be registered at any time. */
const FOUND_MS = 7 * DAY_MS;
const ABSENT_MS = 3_600_000;

type RegistrationAnswer = Answer<Registration>;

const unknown = (why: UnknownReason): Answer<never> => ({ kind: "unknown", why });

interface RegistrationDeps {
  readonly bootstrap: () => Promise<Bootstrap | undefined>;
  readonly outbound: Pick<Outbound, "http">;
  readonly cache: RegistrationCache;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly log: Log;
  readonly shares: Pick<Shares, "registry">;
  readonly timeoutMs: number;
}

/** Asks the registry's RDAP server. Questions in flight are asked once; a suffix without any server is `absent`. */
export function createRegistration(deps: RegistrationDeps): Lookup["registration"] {
  const registries = new Registries(deps);
  return (domain, by, until) =>
    isHostName(domain)
      ? registries.lookUp(domain, by ?? OPERATOR, until)
      : { kind: "absent", why: "noName" };
}

interface RegistryQuestion {
  readonly server: string;
  readonly domain: string;
  readonly url: string;
}

class Registries {
  readonly #deps: RegistrationDeps;
  readonly #pausedUntilMs = new Map<string, number>();
  /** Keyed by domain, and by owner too: what waits in the share of one owner must not keep another waiting. */
  readonly #asked = shared();
  readonly #ofOwner = shared();

  constructor(deps: RegistrationDeps) {
    this.#deps = deps;
  }

  lookUp(domain: string, by: OwnerKey, until: Until | undefined): Promise<RegistrationAnswer> {
    return this.#ofOwner(`${by} ${domain}`, until, async (askers) => {
      const cached = await this.#read(domain);
      if (cached !== undefined) return answerOf(cached);
      const answer = await this.#ask(domain, by, askers);
      if (answer.kind === "unknown") return answer;
      const keptMs = answer.kind === "found" ? FOUND_MS : ABSENT_MS;
      const expiresAtMs = this.#deps.clock.nowMs() + keptMs;
      const [first] = answer.kind === "found" ? answer.records : [];
      await this.#save(domain, { registeredAtMs: first?.registeredAtMs, expiresAtMs });
      return { ...answer, expiresAtMs };
    });
  }

  async #ask(domain: string, by: OwnerKey, until: Until): Promise<RegistrationAnswer> {
    const bootstrap = await this.#deps.bootstrap();
    if (bootstrap === undefined) return unknown("network");
    if (until.isPast) return unknown("deadline");
    const base = bootstrap(domain);
    if (base === undefined) return { kind: "absent", why: "noData" };
    const asked = { server: new URL(base).origin, domain, url: `${base}domain/${domain}` };
    return await this.#inShare(asked.server, by, () =>
      this.#asked(domain, until, async (all) => {
        const cached = await this.#read(domain); // another owner's question was answered meanwhile
        return cached === undefined ? await this.#fetch(asked, all) : answerOf(cached);
      }),
    );
  }

  async #inShare(
    server: string,
    by: OwnerKey,
    work: () => Promise<RegistrationAnswer>,
  ): Promise<RegistrationAnswer> {
    const { clock, shares } = this.#deps;
    const askedMs = clock.monotonicMs();
    const isPaused = (): boolean =>
      (this.#pausedUntilMs.get(server) ?? -Infinity) > clock.monotonicMs();
    if (isPaused()) return unknown("refused");
    try {
      return await shares.registry(server).run(by, async () => {
        const isLate = clock.monotonicMs() - askedMs > WAIT_MS;
        return isPaused() || isLate ? unknown("refused") : await work();
      });
    } catch (error) {
      if (error instanceof NoRoom) return unknown("refused");
      throw error;
    }
  }

  #pause(server: string, forMs: number): void {
    const untilMs = this.#deps.clock.monotonicMs() + forMs;
    this.#pausedUntilMs.set(
      server,
      Math.max(this.#pausedUntilMs.get(server) ?? -Infinity, untilMs),
    );
  }

  async #fetch(asked: RegistryQuestion, until: Until): Promise<RegistrationAnswer> {
    if (until.isPast) return unknown("deadline");
    const { outbound, timeoutMs } = this.#deps;
    const reply = await outbound.http({
      url: asked.url,
      method: "GET",
      headers: { Accept: "application/rdap+json", "User-Agent": "gatepost" },
      timeoutMs,
      maxBodyBytes: BYTES_MAX,
      maxRedirects: REDIRECTS_MAX,
      until,
    });
    if (reply.ok) return this.#check(reply.value, asked);
    const isOfServer = reply.isRedirected !== true && reply.fault !== "malformed";
    if (isOfServer) this.#pause(asked.server, FAILED_MS);
    return unknown(reasonOf(reply));
  }

  /** RFC 7480 section 5: 200 is an answer, 404 is "no such domain", any other status says nothing about the domain. */
  #check(reply: HttpReply, { server, domain }: RegistryQuestion): RegistrationAnswer {
    const { status, headers, body, cut, isRedirected = false } = reply;
    if (status === 404) return { kind: "absent", why: "noName" };
    if (status === 200) return cut ? unknown("malformed") : readDomainAnswer(body, domain);
    if ((status === 429 || status >= 500) && !isRedirected) {
      const asked = retryAfterMs(headers["retry-after"], this.#deps.clock.nowMs());
      const usual = status === 429 ? BUSY_MS : FAILED_MS;
      this.#pause(server, Math.min(asked ?? usual, BUSY_MAX_MS));
    }
    return unknown(status >= 500 ? "servfail" : "refused");
  }

  async #read(domain: string): Promise<CachedRegistration | undefined> {
    const { cache, clock, log } = this.#deps;
    try {
      return await cache.read(domain, clock.nowMs());
    } catch (fault) {
      log.error("registrations.read_failed", fault);
      return undefined;
    }
  }

  async #save(domain: string, answer: CachedRegistration): Promise<void> {
    try {
      await this.#deps.cache.save(domain, answer);
    } catch (fault) {
      this.#deps.log.error("registrations.save_failed", fault);
    }
  }
}

function reasonOf({ fault }: OutboundFailure): UnknownReason {
  if (fault === "timeout" || fault === "malformed") return fault;
  return fault === "redirect" || fault === "not_public" || fault === "bad_url"
    ? "refused"
    : "network";
}

/** Runs a question of the same name once at a time; it ends when the last of its askers stops waiting. */
function shared() {
  const running = new Map<string, { answer: Promise<RegistrationAnswer>; askers: Askers }>();
  return (
    name: string,
    until: Until | undefined,
    question: (askers: Askers) => Promise<RegistrationAnswer>,
  ): Promise<RegistrationAnswer> => {
    const twin = running.get(name);
    const askers = twin?.askers ?? new Askers();
    askers.add(until);
    if (twin !== undefined) return twin.answer;
    const answer = question(askers).finally(() => running.delete(name));
    running.set(name, { answer, askers });
    return answer;
  };
}

function answerOf({ registeredAtMs, expiresAtMs }: CachedRegistration): RegistrationAnswer {
  return registeredAtMs === undefined
    ? { kind: "absent", why: "noData", expiresAtMs }
    : { kind: "found", records: [{ registeredAtMs }], expiresAtMs };
}
