import { type Resource, type ResourceName, RESOURCE_NAMES, RESOURCES } from "./resources.ts";
import { Share } from "./share.ts";
import type { HeldBack, ShareFigures } from "./share-figures.ts";

/** The shares of one process: one for each resource, and one for each registry's server. */
export interface Shares {
  of(name: ResourceName): Share;
  /** One share a server, by its name. */
  registry(server: string): Share;
  /** Of all resources; those of all registries are one. `how`: see `Share.figures`. */
  figures(how?: "read" | "look"): AllFigures;
  /** From now on the figures of another thread, which uses other resources, are part of these. */
  include(others: () => AllFigures | undefined): void;
}

export type AllFigures = ReadonlyMap<ResourceName, ShareFigures>;

export type Overrides = Partial<
  Record<ResourceName, Partial<Pick<Resource, "total" | "perOwner" | "queuePerOwner">>>
>;

/** For a program that asks registries for one owner alone. */
export const ONE_OWNER = {
  registry: {
    perOwner: RESOURCES.registry.total,
    queuePerOwner: RESOURCES.registry.queue,
  },
} as const satisfies Overrides;

/** Servers whose share is kept while nobody uses it; all registries that answer RDAP are fewer. */
const SERVERS_MAX = 2_000;

/** `over`: what the operator set of some rows. */
export function createShares(heldBack?: HeldBack, over: Overrides = {}): Shares {
  const shares = new Map(
    RESOURCE_NAMES.map((name) => {
      const row: Resource = { ...RESOURCES[name], ...over[name] };
      return [name, new Share(name, row, heldBack)];
    }),
  );
  const servers = new Map<string, Share>();
  const parts: (() => AllFigures | undefined)[] = [];
  const of = (name: ResourceName): Share => {
    const share = shares.get(name);
    if (share === undefined) throw new Error(`no such resource: ${name}`);
    return share;
  };
  return {
    of,
    registry(server) {
      const known = servers.get(server);
      if (known !== undefined) return known;
      const made = new Share("registry", { ...RESOURCES.registry, ...over.registry }, heldBack);
      // Beyond the bound a share is not kept: callers could invent host names.
      if (servers.size < SERVERS_MAX) servers.set(server, made);
      return made;
    },
    figures(how) {
      const all = new Map([...shares].map(([name, share]) => [name, share.figures(how)]));
      for (const share of servers.values()) {
        const sum = all.get("registry");
        if (sum !== undefined) all.set("registry", added(sum, share.figures(how)));
      }
      for (const [name, figures] of parts.flatMap((others) => [...(others() ?? [])])) {
        const own = all.get(name);
        if (own !== undefined) all.set(name, added(own, figures));
      }
      return all;
    },
    include: (others) => void parts.push(others),
  };
}

const added = (a: ShareFigures, b: ShareFigures): ShareFigures => ({
  total: a.total,
  used: Math.max(a.used, b.used),
  waiting: a.waiting + b.waiting,
  owners: Math.max(a.owners, b.owners),
  largest: Math.max(a.largest, b.largest),
  refused: { owner: a.refused.owner + b.refused.owner, all: a.refused.all + b.refused.all },
  reclaimed: a.reclaimed + b.reclaimed,
});
