import { setImmediate as nextTurn } from "node:timers/promises";
import { dayOf } from "../core/calendar.ts";
import { registrableOf } from "../core/name/domain.ts";
import {
  type LearnedServer,
  MailServerTally,
  type MailSighting,
} from "../core/evidence/mail-servers/learn-mail-servers.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import {
  findMailHosts,
  isCommonCarrier,
  isSharedMailHost,
  type MailHosts,
} from "../core/mail/mail-hosts.ts";
import type { Clock } from "../base/clock.ts";
import type { DomainMail } from "./domain-mails.ts";
import { type FeedFiles, packFeedFile, parseIf, unpackFeedFile } from "./feed-files.ts";
import { type End, every } from "../base/every.ts";
import type { Log } from "../base/log.ts";

/** When the last whole round ended. A round that is stopped begins anew: it takes half an hour. */
const ROUND_FILE = "learning.json";

interface LastRound {
  readonly day: number;
  /** False in what versions before this one kept of a round under way. */
  readonly isOver: boolean;
}

const isRound = (value: unknown): value is LastRound =>
  typeof value === "object" &&
  value !== null &&
  Number.isSafeInteger((value as Partial<LastRound>).day);

interface MailServerLearnerDeps {
  /** Names to resolve: those of curated lists, and known-good ones as the counter-check. */
  readonly names: () => Iterable<NameToLearnFrom>;
  /** Names that checks did not call disposable; keeps servers of honest customers from being accused. */
  readonly ownTraffic: () => AsyncIterable<readonly DomainMail[]>;
  readonly lookup: Pick<Lookup, "mx" | "addresses">;
  readonly files: Pick<FeedFiles, "read" | "write">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Log;
  readonly learned: (servers: readonly LearnedServer[]) => Promise<void>;
}

interface NameToLearnFrom {
  readonly name: string;
  readonly listed: boolean;
}

/** Ten names a second burden no resolver: a round over 15,000 names takes half an hour. */
export const STEP_MS = 1_000;
export const STEP_NAMES = 10;
const REST_MS = 600_000;
/** A step without answers is repeated, so that no round runs empty and forgets; a row of dead names does not end it. */
const SILENCES_MAX = 3;
const SLICE_NAMES = 1_000;

const isShared = (host: string): boolean => isCommonCarrier(host) || isSharedMailHost(host);

export class MailServerLearner {
  readonly #deps: MailServerLearnerDeps;
  #sightings: MailSighting[] = [];
  #queue: NameToLearnFrom[] = [];
  #silences = 0;
  #end: End = () => Promise.resolve();

  constructor(deps: MailServerLearnerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#queue = [];
    const { clock, log } = this.#deps;
    const failed = (fault: unknown): void => log.error("learning.failed", fault);
    this.#end = every({ ms: REST_MS, firstMs: STEP_MS, clock, failed }, () => this.#work());
  }

  stop(): Promise<void> {
    return this.#end();
  }

  async #work(): Promise<number> {
    if (this.#queue.length === 0) return (await this.#begin()) ? STEP_MS : REST_MS;
    const names = this.#queue.splice(-STEP_NAMES);
    const found = await Promise.all(
      names.map(async (each) => ({
        ...each,
        mail: await findMailHosts(each.name, this.#deps.lookup, false),
      })),
    );
    if (this.#isSilent(found)) {
      this.#queue.push(...names);
      return REST_MS;
    }
    this.#sightings.push(
      ...found.flatMap(({ name, listed, mail }) => sightingOf(name, listed, mail) ?? []),
    );
    if (this.#queue.length > 0) return STEP_MS;
    await this.#finish();
    return REST_MS;
  }

  #isSilent(found: readonly { readonly mail: MailHosts }[]): boolean {
    const isSilent = found.every(({ mail }) => mail.kind === "unknown");
    this.#silences = isSilent && this.#silences < SILENCES_MAX ? this.#silences + 1 : 0;
    if (this.#silences === 1)
      this.#deps.log.warn("learning.dns_unreachable", { names: found.length });
    return this.#silences > 0;
  }

  async #begin(): Promise<boolean> {
    const { files, clock } = this.#deps;
    const [file] = await files.read(ROUND_FILE);
    const last = parseIf(unpackFeedFile(file), isRound);
    if (last?.isOver === true && last.day === dayOf(clock.nowMs())) return false;
    this.#sightings = [];
    this.#queue = [];
    for await (const slice of this.#sliced(this.#deps.names())) this.#queue.push(...slice);
    return this.#queue.length > 0;
  }

  /** Never more than a slice at a time, so that no check waits for it. */
  async *#sliced<T>(all: Iterable<T>): AsyncGenerator<readonly T[]> {
    let slice: T[] = [];
    for (const each of all) {
      if (slice.push(each) < SLICE_NAMES) continue;
      yield slice;
      slice = [];
      await nextTurn();
    }
    yield slice;
  }

  async #finish(): Promise<void> {
    const tally = new MailServerTally(isShared);
    for await (const slice of this.#sliced(this.#sightings)) {
      for (const sighting of slice) tally.add(sighting);
    }
    for await (const page of this.#deps.ownTraffic()) {
      for (const { domain: name, ...mail } of page) {
        const sighting = sightingOf(name, false, { ...mail, kind: "hosts", implicit: false });
        if (sighting !== undefined) tally.add(sighting);
      }
      await nextTurn();
    }
    const { files, clock, log, learned } = this.#deps;
    const servers = tally.learned();
    await learned(servers);
    const nowMs = clock.nowMs();
    const round: LastRound = { day: dayOf(nowMs), isOver: true };
    const file = await packFeedFile(ROUND_FILE, JSON.stringify(round), nowMs);
    const [before] = await files.read(ROUND_FILE);
    await files.write(file, before?.version);
    log.info("learning.finished", { names: this.#sightings.length, servers: servers.length });
    this.#sightings = [];
  }
}

function sightingOf(name: string, listed: boolean, mail: MailHosts): MailSighting | undefined {
  const domain = registrableOf(name);
  if (domain === undefined || mail.kind !== "hosts" || mail.implicit) return undefined;
  return { domain, listed, hosts: mail.hosts, addresses: mail.addresses ?? [] };
}
