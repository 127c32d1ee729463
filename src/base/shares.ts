import { FairQueue, largestBy } from "./fair-queue.ts";
import type { OwnerKey } from "./owner.ts";
import { type Resource, type ResourceName, RESOURCE_NAMES, RESOURCES } from "./resources.ts";
import { StacklessError } from "./refusals.ts";

export type WhyNoRoom = "owner" | "all";

/** Work that finds no room: it was not started. The HTTP floor answers 429 for `owner` and 503 for `all`. */
export class NoRoom extends StacklessError {
  readonly resource: ResourceName;
  readonly why: WhyNoRoom;

  constructor(resource: ResourceName, why: WhyNoRoom) {
    super(`no room: ${resource}, ${why}`);
    this.name = "NoRoom";
    this.resource = resource;
    this.why = why;
  }
}

export interface Reservation {
  grow(amount: number): void;
  /** From now on it is never reclaimed: its work can no longer be ended. */
  keep(): void;
  release(): void;
}

export interface TakeOptions {
  /** For an owner with less than an equal part: must end the work and release the reservation before it returns. */
  readonly reclaim?: () => void;
  /** Where the owner has no room the oldest work of its own that can be reclaimed ends first. */
  readonly displaces?: boolean | undefined;
}

export interface ShareFigures {
  readonly total: number;
  readonly used: number;
  readonly waiting: number;
  readonly owners: number;
  readonly largest: number;
  readonly refused: Readonly<Record<WhyNoRoom, number>>;
  readonly reclaimed: number;
}

export type OnThrottled = (reserved: {
  readonly resource: ResourceName;
  readonly owner: OwnerKey;
  readonly used: number;
  readonly waiting: number;
}) => void;

interface Waiter {
  readonly amount: number;
  readonly begin: () => void;
  readonly refuse: (why: NoRoom) => void;
}

interface Reserved {
  amount: number;
  readonly displaces: boolean | undefined;
  reclaim: (() => void) | undefined;
}

interface Tenant {
  readonly owner: OwnerKey;
  used: number;
  readonly reservations: Set<Reserved>;
}

/** A bounded resource that owners share: each owner has at most its share, and what waits is a `FairQueue` with bounds. */
export class Share {
  readonly #name: ResourceName;
  readonly #row: Resource;
  readonly #throttled: OnThrottled;
  readonly #tenants = new Map<OwnerKey, Tenant>();
  readonly #queue = new FairQueue<Waiter>();
  #used = 0;
  #largest = 0;
  #reclaimed = 0;
  readonly #refused = { owner: 0, all: 0 };

  constructor(name: ResourceName, row: Resource, throttled: OnThrottled = () => undefined) {
    this.#name = name;
    this.#row = row;
    this.#throttled = throttled;
  }

  take(owner: OwnerKey, amount = 1, options: TakeOptions = {}): Reservation {
    let tenant = this.#tenantOf(owner);
    if (options.displaces === true) this.#displaceOwn(tenant, amount);
    tenant = this.#tenantOf(owner); // it may have been forgotten meanwhile
    if (!this.#fitsOwner(tenant, amount)) throw this.#refuse(tenant, "owner");
    this.#makeRoom(tenant, amount);
    return this.#grant(tenant, amount, options);
  }

  /** Takes at once when nobody waits and there is room; else returns undefined, which counts as no refusal. */
  takeIfFree(owner: OwnerKey, amount = 1, cost = amount): Reservation | undefined {
    if (this.#queue.length > 0) return undefined;
    const tenant = this.#tenantOf(owner);
    if (this.#used + amount > this.#row.total || !this.#fitsOwner(tenant, amount)) {
      this.#forget(tenant);
      return undefined;
    }
    this.#queue.charge(owner, cost);
    return this.#grant(tenant, amount);
  }

  /** Puts the owner's next work further back, for work that cost more than was said. */
  charge(owner: OwnerKey, cost: number): void {
    this.#queue.charge(owner, cost);
  }

  /**
   * More than the share counts as the share; `cost` says whose turn is next, where it is not the amount. Rejects with `NoRoom`
   * when the queue is full and no owner's is longer.
   */
  async wait(owner: OwnerKey, amount = 1, cost = amount): Promise<Reservation> {
    const wanted = Math.min(amount, this.#row.total, this.#row.perOwner);
    const atOnce = this.takeIfFree(owner, wanted, cost);
    if (atOnce !== undefined) return atOnce;
    const tenant = this.#tenantOf(owner);
    const { queue, queuePerOwner } = this.#row;
    if (this.#queue.lengthOf(owner) >= queuePerOwner) throw this.#refuse(tenant, "owner");
    if (this.#queue.length >= queue) this.#displaceFor(tenant);
    return await new Promise<Reservation>((resolve, refuse) => {
      const begin = (): void => {
        const reservation = this.#grant(this.#tenantOf(owner), wanted);
        setImmediate(() => resolve(reservation)); // what waited is not begun in one turn with what it waited for
      };
      this.#queue.push(owner, { amount: wanted, begin, refuse }, cost);
      if (this.#queue.lengthOf(owner) * 2 > queuePerOwner) this.#tell(tenant);
      this.#serve(); // all that wait may be owners at their share
    });
  }

  async run<T>(owner: OwnerKey, work: () => Promise<T>, amount = 1): Promise<T> {
    const reservation = await this.wait(owner, amount);
    try {
      return await work();
    } finally {
      reservation.release();
    }
  }

  /** "read" begins a new `largest`, a "look" does not. */
  figures(how: "read" | "look" = "read"): ShareFigures {
    const largest = this.#largest;
    if (how === "read") {
      this.#largest = Math.max(0, ...[...this.#tenants.values()].map(({ used }) => used));
    }
    return {
      total: this.#row.total,
      used: this.#used,
      waiting: this.#queue.length,
      owners: this.#tenants.size,
      largest,
      refused: { ...this.#refused },
      reclaimed: this.#reclaimed,
    };
  }

  #tenantOf(owner: OwnerKey): Tenant {
    const known = this.#tenants.get(owner);
    if (known !== undefined) return known;
    const made: Tenant = { owner, used: 0, reservations: new Set() };
    this.#tenants.set(owner, made);
    return made;
  }

  #forget({ owner, reservations }: Tenant): void {
    if (reservations.size === 0 && this.#queue.lengthOf(owner) === 0) this.#tenants.delete(owner);
  }

  #fitsOwner(tenant: Tenant, amount: number): boolean {
    return tenant.used + amount <= this.#row.perOwner;
  }

  #grant(tenant: Tenant, amount: number, { reclaim, displaces }: TakeOptions = {}): Reservation {
    const reserved: Reserved = { amount: 0, reclaim, displaces };
    tenant.reservations.add(reserved);
    this.#count(tenant, reserved, amount);
    return {
      grow: (more) => this.#grow(tenant, reserved, more),
      keep: () => void (reserved.reclaim = undefined),
      release: () => this.#release(tenant, reserved),
    };
  }

  #count(tenant: Tenant, reserved: Reserved, amount: number): void {
    reserved.amount += amount;
    tenant.used += amount;
    this.#used += amount;
    if (tenant.used > this.#largest) this.#largest = tenant.used;
  }

  #grow(tenant: Tenant, reserved: Reserved, amount: number): void {
    if (!tenant.reservations.has(reserved)) throw new NoRoom(this.#name, "owner"); // it was reclaimed
    if (reserved.displaces === true) this.#displaceOwn(tenant, amount, reserved);
    if (tenant.used + amount > this.#row.perOwner) throw this.#refuse(tenant, "owner");
    this.#makeRoom(tenant, amount);
    this.#count(tenant, reserved, amount);
  }

  #release(tenant: Tenant, reserved: Reserved): void {
    if (!tenant.reservations.delete(reserved)) return;
    tenant.used -= reserved.amount;
    this.#used -= reserved.amount;
    this.#forget(tenant);
    this.#serve();
  }

  /** A piece that is too large for what is free is waited for, so that it gets its turn. */
  #serve(): void {
    if (this.#queue.length === 0) return;
    for (;;) {
      const next = this.#queue.next(
        (owner, { amount }) => this.#fitsOwner(this.#tenantOf(owner), amount),
        ({ amount }) => this.#used + amount <= this.#row.total,
      );
      if (next === undefined) return;
      next.item.begin();
    }
  }

  #displaceFor(tenant: Tenant): void {
    const longest = this.#queue.longest();
    const own = this.#queue.lengthOf(tenant.owner);
    if (longest === undefined || this.#queue.lengthOf(longest) <= own + 1) {
      throw this.#refuse(tenant, "all");
    }
    const last = this.#queue.pop(longest);
    last?.refuse(this.#refuse(this.#tenantOf(longest), "owner"));
  }

  #makeRoom(tenant: Tenant, amount: number): void {
    while (this.#used + amount > this.#row.total) {
      const equalPart = this.#row.total / this.#tenants.size;
      const largest = largestBy(this.#tenants.values(), ({ used }) => used);
      const isModest = tenant.used + amount <= equalPart;
      if (!isModest || largest === undefined || !this.#reclaimFrom(largest, equalPart)) {
        throw this.#refuse(tenant, "all");
      }
    }
  }

  #displaceOwn(tenant: Tenant, amount: number, kept?: Reserved): void {
    for (const reserved of tenant.reservations) {
      if (this.#fitsOwner(tenant, amount)) return;
      if (reserved !== kept && reserved.reclaim !== undefined) this.#reclaim(tenant, reserved);
    }
  }

  #reclaimFrom(largest: Tenant, equalPart: number): boolean {
    const reserved = [...largest.reservations].find(({ reclaim }) => reclaim !== undefined);
    if (reserved === undefined || largest.used <= equalPart) return false;
    this.#reclaim(largest, reserved);
    return true;
  }

  #reclaim(tenant: Tenant, reserved: Reserved): void {
    this.#reclaimed += 1;
    this.#tell(tenant);
    reserved.reclaim?.();
    this.#release(tenant, reserved);
  }

  #refuse(tenant: Tenant, why: WhyNoRoom): NoRoom {
    this.#refused[why] += 1;
    if (why === "owner") this.#tell(tenant);
    this.#forget(tenant);
    return new NoRoom(this.#name, why);
  }

  #tell({ owner, used }: Tenant): void {
    const waiting = this.#queue.lengthOf(owner);
    this.#throttled({ resource: this.#name, owner, used, waiting });
  }
}

export interface Shares {
  of(name: ResourceName): Share;
  registry(server: string): Share;
  /** Those of all registries are one. `how`: see `Share.figures`. */
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

const SERVERS_MAX = 2_000;

export function createShares(throttled?: OnThrottled, over: Overrides = {}): Shares {
  const shares = new Map(
    RESOURCE_NAMES.map((name) => {
      const row: Resource = { ...RESOURCES[name], ...over[name] };
      return [name, new Share(name, row, throttled)];
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
      const made = new Share("registry", { ...RESOURCES.registry, ...over.registry }, throttled);
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
