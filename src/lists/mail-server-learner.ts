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
import type { DomainMail } from "./domain-verdicts.ts";
import { type FeedFiles, packText, parseIf, unpackText } from "./feed-files.ts";
import { type End, every } from "../base/every.ts";
import type { Log } from "../base/log.ts";

export interface LearningRound {
  readonly day: number;
  readonly isOver: boolean;
  /** Names up to this one, in the order of code units, were asked. */
  readonly lastName: string;
  readonly sightings: readonly MailSighting[];
}

const ROUND_FILE = "learning.json";

function isRound(value: unknown): value is LearningRound {
  if (typeof value !== "object" || value === null) return false;
  const { day, isOver, lastName, sightings } = value as Partial<LearningRound>;
  return (
    Number.isSafeInteger(day) &&
    typeof isOver === "boolean" &&
    typeof lastName === "string" &&
    Array.isArray(sightings)
  );
}

/** Keeps a round where every process finds it, so that the next learner continues it. */
export class LearningStore {
  readonly #files: FeedFiles;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #log: Pick<Log, "warn">;
  #version: string | undefined;

  constructor(files: FeedFiles, clock: Pick<Clock, "nowMs">, log: Pick<Log, "warn">) {
    this.#files = files;
    this.#clock = clock;
    this.#log = log;
  }

  async read(): Promise<LearningRound | undefined> {
    const [file] = await this.#files.read(ROUND_FILE);
    this.#version = file?.version;
    if (file === undefined) return undefined;
    const round = parseIf(unpackText(file), isRound);
    if (round === undefined) this.#log.warn("learning.round_invalid", { version: file.version });
    return round;
  }

  /** Rejects when another process wrote since this one read or saved. */
  async save(round: LearningRound): Promise<void> {
    const file = await packText(ROUND_FILE, JSON.stringify(round), this.#clock.nowMs());
    if (file.version === this.#version) return;
    if (!(await this.#files.write(file, this.#version))) throw new Error("another process learns");
    this.#version = file.version;
  }
}

export interface MailServerLearnerDeps {
  /** Names to resolve: those of curated lists, and known-good ones as the counter-check. */
  readonly names: () => Iterable<NameToLearnFrom>;
  /** Names that checks did not call disposable; keeps servers of honest customers from being accused. */
  readonly ownTraffic: () => AsyncIterable<readonly DomainMail[]>;
  readonly lookup: Pick<Lookup, "mx" | "addresses">;
  readonly store: Pick<LearningStore, "read" | "save">;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Log;
  readonly learned: (servers: readonly LearnedServer[]) => Promise<void>;
}

export interface NameToLearnFrom {
  readonly name: string;
  readonly listed: boolean;
}

/** Ten names a second burden no resolver: a round over 15,000 names takes half an hour. */
export const STEP_MS = 1_000;
export const STEP_NAMES = 10;
const SAVE_EVERY_NAMES = 500;
const ROUND_DAYS = 1;
const REST_MS = 600_000;
/** A step without answers is repeated, so that no round runs empty and forgets; a row of dead names does not end it. */
const SILENCES_MAX = 3;
const SLICE_NAMES = 1_000;

const isShared = (host: string): boolean => isCommonCarrier(host) || isSharedMailHost(host);

/** Learns which mail servers serve disposable domains, in the background. */
export class MailServerLearner {
  readonly #deps: MailServerLearnerDeps;
  #sightings: MailSighting[] = [];
  #queue: NameToLearnFrom[] = [];
  #asked = 0;
  #lastName = "";
  #silences = 0;
  #end: End = () => Promise.resolve();

  constructor(deps: MailServerLearnerDeps) {
    this.#deps = deps;
  }

  start(): void {
    // What is kept counts: another process may have gone on with the round since this one stopped.
    this.#queue = [];
    const { clock, log } = this.#deps;
    const failed = (fault: unknown): void => log.error("learning.failed", fault);
    this.#end = every({ ms: REST_MS, firstMs: STEP_MS, clock, failed }, () => this.#work());
  }

  stop(): Promise<void> {
    return this.#end();
  }

  /** One step; how long to wait for the next. */
  async #work(): Promise<number> {
    if (this.#queue.length === 0) return (await this.#begin()) ? STEP_MS : REST_MS;
    const names = this.#queue.splice(-STEP_NAMES);
    const found = await Promise.all(names.map((each) => this.#resolve(each)));
    if (this.#isSilent(found)) {
      this.#queue.push(...names);
      return REST_MS;
    }
    this.#lastName = names[0]?.name ?? "";
    this.#sightings.push(
      ...found.flatMap(({ name, listed, mail }) => sightingOf(name, listed, mail) ?? []),
    );
    this.#asked += names.length;
    const isOver = this.#queue.length === 0;
    if (isOver || this.#asked % SAVE_EVERY_NAMES < STEP_NAMES) await this.#save(isOver);
    if (isOver) await this.#finish();
    return isOver ? REST_MS : STEP_MS;
  }

  #isSilent(found: readonly { readonly mail: MailHosts }[]): boolean {
    const isSilent = found.every(({ mail }) => mail.kind === "unknown");
    this.#silences = isSilent && this.#silences < SILENCES_MAX ? this.#silences + 1 : 0;
    if (this.#silences === 1)
      this.#deps.log.warn("learning.dns_unreachable", { names: found.length });
    return this.#silences > 0;
  }

  /** A started round continues after the names it has asked; false if none is due. */
  async #begin(): Promise<boolean> {
    const { store, clock } = this.#deps;
    const kept = await store.read();
    const today = dayOf(clock.nowMs());
    if (kept?.isOver === true && Math.abs(today - kept.day) < ROUND_DAYS) return false;
    const begun = kept?.isOver === false ? kept : undefined;
    this.#sightings = [...(begun?.sightings ?? [])];
    this.#queue = await this.#namesAfter(begun?.lastName ?? "");
    return this.#queue.length > 0;
  }

  /** From the end: `splice` takes the names in the order of the alphabet. */
  async #namesAfter(asked: string): Promise<NameToLearnFrom[]> {
    const queue: NameToLearnFrom[] = [];
    for await (const slice of this.#sliced(this.#deps.names())) {
      queue.push(...slice.filter(({ name }) => name > asked));
    }
    return queue.sort((a, b) => (a.name < b.name ? 1 : -1));
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

  async #resolve(each: NameToLearnFrom): Promise<NameToLearnFrom & { readonly mail: MailHosts }> {
    return { ...each, mail: await findMailHosts(each.name, this.#deps.lookup, false) };
  }

  async #save(isOver: boolean): Promise<void> {
    const { store, clock } = this.#deps;
    const day = dayOf(clock.nowMs());
    const sightings = isOver ? [] : this.#sightings;
    await store.save({ day, lastName: this.#lastName, isOver, sightings });
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
    const servers = tally.learned();
    await this.#deps.learned(servers);
    this.#deps.log.info("learning.finished", {
      names: this.#sightings.length,
      servers: servers.length,
    });
    this.#sightings = [];
  }
}

function sightingOf(name: string, listed: boolean, mail: MailHosts): MailSighting | undefined {
  const domain = registrableOf(name);
  if (domain === undefined || mail.kind !== "hosts" || mail.implicit) return undefined;
  return { domain, listed, hosts: mail.hosts, addresses: mail.addresses ?? [] };
}
