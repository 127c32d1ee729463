import type { MailServerKind } from "../datasets.ts";

export interface MailSighting {
  /** The registrable domain under the whole public suffix list: names below one domain count once. */
  readonly domain: string;
  /** A curated list holds it; else it is taken for honest, or for not known yet. */
  readonly listed: boolean;
  readonly hosts: readonly string[];
  readonly addresses: readonly string[];
}

/** Chosen by the figures of bench/evidence/mail-servers.ts; docs/detection.md has them. */
export const LEARNING = {
  listedMin: 5,
  // With fewer it counts as shared: a small company with a few bad customers looks the same until good ones are met.
  dedicatedListedMin: 20,
  othersShareMax: 0.05,
};

export type LearnedServer = readonly [server: string, kind: MailServerKind];

interface Customers {
  readonly listed: Set<string>;
  readonly others: Set<string>;
  /** These are the addresses of a host. Honest customers of the same machine are met under other host names too. */
  readonly addresses: Set<string>;
}

const ADDRESSES_MAX = 20;

const OTHERS_MAX = 10_000;

/** `dedicated`: serves disposable domains almost only. Hosts that `isShared` knows, and their addresses, are never learned. */
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
      const customers = this.#customersOf(server);
      if (server === hosts[0]) {
        for (const address of addresses.slice(0, ADDRESSES_MAX)) customers.addresses.add(address);
      }
      if (listed) customers.listed.add(domain);
      else if (customers.others.size < OTHERS_MAX) customers.others.add(domain);
    }
  }

  #customersOf(server: string): Customers {
    const known = this.#servers.get(server);
    if (known !== undefined) return known;
    const customers = {
      listed: new Set<string>(),
      others: new Set<string>(),
      addresses: new Set<string>(),
    };
    this.#servers.set(server, customers);
    return customers;
  }

  learned(thresholds = LEARNING): readonly LearnedServer[] {
    return [...this.#servers].flatMap(([server, { listed, addresses }]) => {
      if (this.#carriers.has(server)) return [];
      const others = [server, ...addresses].map(
        (each) => this.#servers.get(each)?.others.size ?? 0,
      );
      const kind = kindOf(listed.size, Math.max(...others), thresholds);
      return kind === undefined ? [] : [[server, kind] as const];
    });
  }
}

function kindOf(
  listed: number,
  honest: number,
  { listedMin, dedicatedListedMin, othersShareMax }: typeof LEARNING,
): MailServerKind | undefined {
  if (listed < listedMin) return undefined;
  const isDedicated = listed >= dedicatedListedMin && honest / (listed + honest) < othersShareMax;
  return isDedicated ? "dedicated" : "shared";
}
