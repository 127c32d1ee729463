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

/** A host or address is learned from so many listed domains on. */
export const LISTED_MIN = 5;

/**
 * With fewer nobody can say that others are under 5 % of a server's customers, and it counts as shared: a small
 * hosting company with a handful of bad customers looks the same until its good ones are met.
 */
export const DEDICATED_LISTED_MIN = 20;

/** Dedicated carries less of others than this share. */
export const OTHERS_SHARE_MAX = 0.05;

interface Customers {
  readonly listed: Set<string>;
  readonly others: Set<string>;
}

/** Others that are counted at one server: more of them change nothing. */
const OTHERS_MAX = 10_000;

/**
 * Which mail hosts and addresses serve disposable domains: `dedicated` almost only, `shared` among others.
 * Hosts that `isShared` knows as carriers of anybody's mail, and the addresses they have, are never learned.
 */
export function learnMailServers(
  sightings: Iterable<MailSighting>,
  isShared: (host: string) => boolean,
): readonly (readonly [server: string, kind: MailServerKind])[] {
  const servers = new Map<string, Customers>();
  const carriers = new Set<string>();
  for (const { domain, listed, hosts, addresses } of sightings) {
    const isCarried = hosts.some(isShared);
    for (const address of isCarried ? addresses : []) carriers.add(address);
    const own = hosts.filter((host) => !isShared(host));
    for (const server of isCarried ? own : [...own, ...addresses]) {
      const customers = servers.get(server) ?? { listed: new Set(), others: new Set() };
      servers.set(server, customers);
      if (listed) customers.listed.add(domain);
      else if (customers.others.size < OTHERS_MAX) customers.others.add(domain);
    }
  }
  return [...servers].flatMap(([server, customers]) => {
    const kind = carriers.has(server) ? undefined : kindOf(customers);
    return kind === undefined ? [] : [[server, kind] as const];
  });
}

function kindOf({ listed, others }: Customers): MailServerKind | undefined {
  if (listed.size < LISTED_MIN) return undefined;
  const share = others.size / (listed.size + others.size);
  const isDedicated = listed.size >= DEDICATED_LISTED_MIN && share < OTHERS_SHARE_MAX;
  return isDedicated ? "dedicated" : "shared";
}
