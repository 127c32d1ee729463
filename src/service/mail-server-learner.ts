import { dayOf } from "../core/calendar.ts";
import { registrableOf } from "../core/domain.ts";
import { learnMailServers, type MailSighting } from "../core/learn-mail-servers.ts";
import type { Lookup } from "../core/lookup.ts";
import { isCommonCarrier, isSharedMailHost } from "../core/mail-carriers.ts";
import { findMailHosts, type MailHosts } from "../core/mail-hosts.ts";
import type { MailServerKind } from "../core/datasets.ts";
import type { Clock } from "../ports/clock.ts";
import type { LearningStore } from "../ports/learning-store.ts";
import type { Log } from "../ports/log.ts";

export type LearnedServers = readonly (readonly [server: string, kind: MailServerKind])[];

export interface MailServerLearnerDeps {
  /** Names to resolve: those of curated lists, and known-good ones as the counter-check. */
  readonly names: () => Iterable<{ readonly name: string; readonly listed: boolean }>;
  readonly lookup: Pick<Lookup, "mx" | "addresses">;
  readonly store: LearningStore;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Log;
  /** Called after each round. */
  readonly learned: (servers: LearnedServers) => void;
}

/** Learns which mail servers serve disposable domains, in the background. */
export interface MailServerLearner {
  /** What a check found of a name that no list holds; keeps servers of honest customers from being accused. */
  observe(name: string, mail: MailHosts): void;
  start(): void;
  /** Waits for the step that runs; the round goes on at the next start. */
  stop(): Promise<void>;
}

/** Ten names a second burden no resolver: a round over 15,000 names takes half an hour. */
export const STEP_MS = 1_000;
export const STEP_NAMES = 10;
/** How often a round's findings are written down. */
const SAVE_EVERY_NAMES = 500;
/** A round begins so many days after the one before. */
const ROUND_DAYS = 1;
const REST_MS = 600_000;
/** Names of own traffic that are remembered, the newest; a day of a busy service. */
const OWN_MAX = 50_000;

export function createMailServerLearner(deps: MailServerLearnerDeps): MailServerLearner {
  return new Learner(deps);
}

const isShared = (host: string): boolean => isCommonCarrier(host) || isSharedMailHost(host);

class Learner implements MailServerLearner {
  readonly #deps: MailServerLearnerDeps;
  readonly #own = new Map<string, MailSighting>();
  #sightings: MailSighting[] = [];
  #queue: { readonly name: string; readonly listed: boolean }[] = [];
  #asked = 0;
  #lastName = "";
  #cancel: (() => void) | undefined;
  #step: Promise<void> | undefined;

  constructor(deps: MailServerLearnerDeps) {
    this.#deps = deps;
  }

  observe(name: string, mail: MailHosts): void {
    const sighting = sightingOf(name, false, mail);
    if (sighting === undefined) return;
    this.#own.delete(sighting.domain);
    this.#own.set(sighting.domain, sighting);
    const [oldest] = this.#own.keys();
    if (this.#own.size > OWN_MAX && oldest !== undefined) this.#own.delete(oldest);
  }

  start(): void {
    this.#arm(STEP_MS);
  }

  async stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#step;
  }

  #arm(delayMs: number): void {
    this.#cancel = this.#deps.clock.after(delayMs, () => {
      this.#step = this.#work()
        .catch((fault: unknown) => {
          this.#deps.log.error("learning.failed", fault);
          return REST_MS;
        })
        .then((nextMs) => {
          if (this.#cancel !== undefined) this.#arm(nextMs);
        });
    });
  }

  /** One step; how long to wait for the next. */
  async #work(): Promise<number> {
    if (this.#queue.length === 0) return (await this.#begin()) ? STEP_MS : REST_MS;
    const names = this.#queue.splice(-STEP_NAMES);
    this.#lastName = names[0]?.name ?? "";
    const found = await Promise.all(names.map((each) => this.#resolve(each)));
    this.#sightings.push(...found.filter((each) => each !== undefined));
    this.#asked += names.length;
    const isOver = this.#queue.length === 0;
    if (isOver || this.#asked % SAVE_EVERY_NAMES < STEP_NAMES) await this.#save(isOver);
    if (isOver) this.#finish();
    return isOver ? REST_MS : STEP_MS;
  }

  /** A round that was begun goes on behind the names it has asked; false when none is due. */
  async #begin(): Promise<boolean> {
    const { store, names, clock } = this.#deps;
    const kept = await store.read();
    const today = dayOf(clock.nowMs());
    if (kept?.isOver === true && Math.abs(today - kept.day) < ROUND_DAYS) return false;
    const begun = kept?.isOver === false ? kept : undefined;
    const asked = begun?.lastName ?? "";
    this.#sightings = [...(begun?.sightings ?? [])];
    // From the end: `splice` takes the names in the order of the alphabet.
    this.#queue = [...names()]
      .filter(({ name }) => name > asked)
      .sort((a, b) => (a.name < b.name ? 1 : -1));
    return this.#queue.length > 0;
  }

  async #resolve({ name, listed }: { readonly name: string; readonly listed: boolean }) {
    return sightingOf(name, listed, await findMailHosts(name, this.#deps.lookup, false));
  }

  async #save(isOver: boolean): Promise<void> {
    const { store, clock } = this.#deps;
    const day = dayOf(clock.nowMs());
    const sightings = isOver ? [] : this.#sightings;
    await store.save({ day, lastName: this.#lastName, isOver, sightings });
  }

  #finish(): void {
    const servers = learnMailServers([...this.#sightings, ...this.#own.values()], isShared);
    this.#deps.learned(servers);
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
