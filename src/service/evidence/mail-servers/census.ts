import { createHash } from "node:crypto";
import { dayOf } from "../../../core/calendar.ts";
import { registrableOf, parseDomain } from "../../../core/name/domain.ts";
import type { Lookup } from "../../../core/mail/lookup.ts";
import { isCommonCarrier, isSharedMailHost } from "../../../core/mail/mail-carriers.ts";
import { findMailHosts } from "../../../core/mail/mail-hosts.ts";
import type { Census, CensusStore } from "../../../ports/evidence/census.ts";
import type { Clock } from "../../../ports/process/clock.ts";

export interface CensusDeps {
  readonly lookup: Pick<Lookup, "mx" | "addresses">;
  readonly store: CensusStore;
  readonly clock: Pick<Clock, "nowMs" | "after">;
}

export interface CensusOptions {
  /** Names a second. */
  readonly rate: number;
  /** Called after each step. */
  readonly progress?: (census: Census) => void;
  /** True once the census must stop; it continues from there the next time. */
  readonly isStopped?: () => boolean;
}

/** The most popular million is what public lists hold; more names tell nothing about more servers. */
const CENSUS_NAMES_MAX = 1_000_000;
/** Of a name without an answer nothing is counted, so a step without any answer waits and asks again. */
const SILENCES_MAX = 3;
const STEP_MS = 1_000;
const SILENCE_STEPS = 30;
/** The most steps that a kill loses. */
const SAVE_EVERY_STEPS = 30;

/**
 * The registrable domains of the lines of a file, each once and in the order of the file. A line is a name, or fields
 * between commas whose last is the name ("1,example.com" of public popularity lists); "#" begins a remark.
 */
export function censusNames(text: string): readonly string[] {
  const names = new Set<string>();
  for (const line of text.split("\n")) {
    const name = nameOn(line);
    if (name !== undefined) names.add(name);
    if (names.size === CENSUS_NAMES_MAX) break;
  }
  return [...names];
}

function nameOn(line: string): string | undefined {
  const cell = line.slice(line.lastIndexOf(",") + 1).trim();
  if (cell === "" || line.startsWith("#") || cell.length > 253) return undefined;
  const parsed = parseDomain(cell);
  return parsed.ok ? registrableOf(parsed.value.name) : undefined;
}

const sourceOf = (names: readonly string[]): string =>
  createHash("sha256").update(names.join("\n")).digest("hex");

/**
 * Counts honest domains by mail server. Continues where it stopped if the names are the same. Hosts that carry
 * everybody's mail are left out. Resolves with the census as far as it came.
 */
export async function takeCensus(
  names: readonly string[],
  { lookup, store, clock }: CensusDeps,
  { rate, progress = () => undefined, isStopped = () => false }: CensusOptions,
): Promise<Census> {
  const count = new Count(names, store.read());
  let silences = 0;
  for (let step = 1; !count.isOver && !isStopped(); step += 1) {
    const found = await mailOf(count.next(rate), lookup);
    if (silences < SILENCES_MAX && isSilent(found)) {
      silences += 1;
      for (let rest = SILENCE_STEPS; rest > 0 && !isStopped(); rest -= 1) await pause(clock);
      continue;
    }
    silences = 0;
    count.add(found);
    const census = count.census(clock.nowMs());
    if (step % SAVE_EVERY_STEPS === 0) store.save(census);
    progress(census);
    await pause(clock);
  }
  const census = count.census(clock.nowMs());
  store.save(census);
  return census;
}

/** A census in the making. */
class Count {
  readonly #names: readonly string[];
  readonly #source: string;
  readonly #servers: Map<string, number>;
  #asked: number;
  #domains: number;

  /** `kept` is continued when it is an unfinished census of the same names. */
  constructor(names: readonly string[], kept: Census | undefined) {
    this.#names = names;
    this.#source = sourceOf(names);
    const isSame = kept?.source === this.#source && kept.asked < kept.names;
    this.#servers = new Map(isSame ? kept.servers : []);
    this.#asked = isSame ? kept.asked : 0;
    this.#domains = isSame ? kept.domains : 0;
  }

  get isOver(): boolean {
    return this.#asked >= this.#names.length;
  }

  next(count: number): readonly string[] {
    return this.#names.slice(this.#asked, this.#asked + count);
  }

  /** What the next names gave, one element for each. */
  add(found: readonly (readonly string[] | undefined)[]): void {
    this.#asked += found.length;
    this.#domains += countAt(this.#servers, found);
  }

  census(nowMs: number): Census {
    return {
      day: dayOf(nowMs),
      source: this.#source,
      asked: this.#asked,
      names: this.#names.length,
      domains: this.#domains,
      servers: this.#servers,
    };
  }
}

const isSilent = (found: readonly unknown[]): boolean => found.every((mail) => mail === undefined);

const pause = (clock: Pick<Clock, "after">): Promise<void> =>
  new Promise((resolve) => void clock.after(STEP_MS, resolve));

/** The servers of each name that has any; empty for a name without mail, undefined when DNS did not answer. */
function mailOf(
  names: readonly string[],
  lookup: CensusDeps["lookup"],
): Promise<readonly (readonly string[] | undefined)[]> {
  return Promise.all(
    names.map(async (name) => {
      const mail = await findMailHosts(name, lookup, false);
      if (mail.kind === "unknown") return undefined;
      if (mail.kind !== "hosts") return [];
      const own = mail.hosts.filter((host) => !isCommonCarrier(host) && !isSharedMailHost(host));
      return own.length < mail.hosts.length ? own : [...own, ...(mail.addresses ?? [])];
    }),
  );
}

/** Adds one domain to each of its servers; how many of the domains have any. */
function countAt(
  servers: Map<string, number>,
  found: readonly (readonly string[] | undefined)[],
): number {
  let domains = 0;
  for (const own of found) {
    if (own === undefined) continue;
    domains += 1;
    for (const server of own) servers.set(server, (servers.get(server) ?? 0) + 1);
  }
  return domains;
}

/** Of each server the larger count, because two installations ask much the same popular names. */
export function mergedCensus(one: Census, other: Census): Census {
  const servers = new Map(one.servers);
  for (const [server, count] of other.servers) {
    servers.set(server, Math.max(count, servers.get(server) ?? 0));
  }
  const larger = one.domains >= other.domains ? one : other;
  return { ...larger, day: Math.max(one.day, other.day), servers };
}
