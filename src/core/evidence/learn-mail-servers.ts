import type { MailServerKind } from "./datasets.ts";

/** Where the mail of one domain goes, as DNS said. */
export interface MailSighting {
  /** The registrable domain under the whole public suffix list: names below one domain count once. */
  readonly domain: string;
  /** A curated list holds it; else it is taken for honest, or for not known yet. */
  readonly listed: boolean;
  readonly hosts: readonly string[];
  /** Of the hosts that resolve. */
  readonly addresses: readonly string[];
}

/** From when on a server is accused. */
export interface LearningThresholds {
  /** A host or address is learned from so many listed domains on. */
  readonly listedMin: number;
  /**
   * With fewer nobody can say that others are under 5 % of a server's customers, and it counts as shared: a small
   * hosting company with a handful of bad customers looks the same until its good ones are met.
   */
  readonly dedicatedListedMin: number;
  /** Dedicated carries less of others than this share. */
  readonly othersShareMax: number;
}

/** Chosen by the figures of bench/mail-servers.ts; docs/detection.md has them. */
export const LEARNING: LearningThresholds = {
  listedMin: 5,
  dedicatedListedMin: 20,
  othersShareMax: 0.05,
};

/** A mail host, or an address that mail hosts have, and what it was learned to be. */
export type LearnedServer = readonly [server: string, kind: MailServerKind];

interface Customers {
  readonly listed: Set<string>;
  readonly others: Set<string>;
}

/** Others that are counted at one server: more of them change nothing. */
const OTHERS_MAX = 10_000;

/**
 * Which mail hosts and addresses serve disposable domains: `dedicated` almost only, `shared` among others.
 * Hosts that `isShared` knows as carriers of anybody's mail, and the addresses they have, are never learned.
 * Sightings are added one by one, so that nobody need wait for all of them.
 */
export class MailServerTally {
  readonly #isShared: (host: string) => boolean;
  readonly #servers = new Map<string, Customers>();
  readonly #carriers = new Set<string>();

  constructor(isShared: (host: string) => boolean) {
    this.#isShared = isShared;
  }

  add({ domain, listed, hosts, addresses }: MailSighting): void {
    const own = hosts.filter((host) => !this.#isShared(host));
    const isCarried = own.length < hosts.length;
    // The addresses are mostly the first host's. A carrier behind it may be a decoy, and clears no machine by that.
    const isFirstCarrier = hosts.slice(0, 1).some((host) => this.#isShared(host));
    for (const address of isFirstCarrier ? addresses : []) this.#carriers.add(address);
    for (const server of isCarried ? own : [...own, ...addresses]) {
      const customers = this.#servers.get(server) ?? { listed: new Set(), others: new Set() };
      this.#servers.set(server, customers);
      if (listed) customers.listed.add(domain);
      else if (customers.others.size < OTHERS_MAX) customers.others.add(domain);
    }
  }

  learned(thresholds: LearningThresholds = LEARNING): readonly LearnedServer[] {
    return [...this.#servers].flatMap(([server, customers]) => {
      const kind = this.#carriers.has(server) ? undefined : kindOf(customers, thresholds);
      return kind === undefined ? [] : [[server, kind] as const];
    });
  }
}

function kindOf(
  { listed, others }: Customers,
  { listedMin, dedicatedListedMin, othersShareMax }: LearningThresholds,
): MailServerKind | undefined {
  if (listed.size < listedMin) return undefined;
  const share = others.size / (listed.size + others.size);
  const isDedicated = listed.size >= dedicatedListedMin && share < othersShareMax;
  return isDedicated ? "dedicated" : "shared";
}
