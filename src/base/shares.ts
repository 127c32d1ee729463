import { FairQueue, largestBy } from "./fair-queue.ts";
import type { OwnerKey } from "./owner.ts";
import { type Resource, type ResourceName, RESOURCE_NAMES, RESOURCES } from "./resources.ts";
import { StacklessError } from "./refusals.ts";

type WhyNoRoom = "owner" | "all";

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

export interface TakeOptions {
  /** For an owner with less than an equal part: must end the work and release the reservation before it returns. */
  readonly reclaim?: (() => void) | undefined;
  /** Where the owner has no room the oldest work of its own that can be reclaimed ends first. */
  readonly displaces?: boolean | undefined;
}

const NO_OPTIONS: TakeOptions = {};

/** One object without closures: every request with a body takes one. */
export class Reservation {
  readonly owner: OwnerKey;
  readonly displaces: boolean | undefined;
  amount: number;
  reclaim: (() => void) | undefined;
  readonly #share: Share;

  constructor(share: Share, owner: OwnerKey, amount: number, options: TakeOptions) {
    this.#share = share;
    this.owner = owner;
    this.amount = amount;
    this.displaces = options.displaces;
    this.reclaim = options.reclaim;
  }

  /** Throws `NoRoom`, also when it was reclaimed. */
  grow(more: number): void {
    this.#share.grow(this, more);
  }

  /** From now on it is never reclaimed: its work can no longer be ended. */
  keep(): void {
    this.reclaim = undefined;
  }

  release(): void {
    this.#share.release(this);
  }
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
  readonly begin: () => void;
  readonly refuse: (why: Error) => void;
}

/** The /64s of one /48 have together at most this part of a queue. */
const NET_PART = 1 / 4;

/** A bounded resource that owners share: each owner has at most its share, and what waits does so in a bounded `FairQueue`. */
export class Share {
  readonly #name: ResourceName;
  readonly #row: Resource;
  readonly #throttled: OnThrottled;
  readonly #owners = new Map<OwnerKey, Set<Reservation>>();
  readonly #queue: FairQueue<Waiter>;
  #largest = 0;
  #reclaimed = 0;
  readonly #refused = { owner: 0, all: 0 };

  constructor(name: ResourceName, row: Resource, throttled: OnThrottled = () => undefined) {
    this.#name = name;
    this.#row = row;
    this.#throttled = throttled;
    this.#queue = new FairQueue({ total: () => row.total, perOwner: () => row.perOwner });
  }

  get used(): number {
    return this.#queue.used;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Throws `NoRoom`. */
  take(owner: OwnerKey, amount = 1, options = NO_OPTIONS): Reservation {
    this.#makeRoom(owner, amount, options);
    this.#queue.hold(owner, amount);
    return this.#reserve(owner, amount, options);
  }

  charge(owner: OwnerKey, cost: number): void {
    this.#queue.charge(owner, cost);
  }

  /** Rejects with `NoRoom`, or with the reason of `signal`. `cost` says whose turn is next, where it is not the amount. */
  async wait(
    owner: OwnerKey,
    amount = 1,
    { cost = amount, signal }: { readonly cost?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Reservation> {
    const wanted = Math.min(amount, this.#row.total, this.#row.perOwner);
    signal?.throwIfAborted();
    const isFree =
      this.waiting === 0 && this.used + wanted <= this.#row.total && this.#fits(owner, wanted);
    if (!isFree) this.#boundQueue(owner);
    return await new Promise<Reservation>((resolve, refuse) => {
      const begin = (): void => {
        signal?.removeEventListener("abort", leave);
        const reservation = this.#reserve(owner, wanted);
        if (isFree) resolve(reservation);
        else setImmediate(resolve, reservation); // what waited is not begun in one turn with what it waited for
      };
      const leave = (): void => {
        this.#queue.remove(piece);
        refuse(signal?.reason as Error);
        this.#serve(); // a piece behind it may fit
      };
      const piece = this.#queue.push(owner, { begin, refuse }, { cost, amount: wanted });
      signal?.addEventListener("abort", leave, { once: true });
      this.#serve(); // all that wait may be owners at their share
      if (this.#queue.lengthOf(owner) * 2 > this.#row.queuePerOwner) this.#tell(owner);
    });
  }

  async run<T>(owner: OwnerKey, work: () => Promise<T>): Promise<T> {
    const reservation = await this.wait(owner);
    try {
      return await work();
    } finally {
      reservation.release();
    }
  }

  /** The next `largest` is what an owner had at most from now on. */
  figures(): ShareFigures {
    const owners = [...this.#owners.keys()];
    const largest = this.#largest;
    this.#largest = Math.max(0, ...owners.map((owner) => this.#queue.usedBy(owner)));
    const { used, waiting } = this;
    return {
      total: this.#row.total,
      used,
      waiting,
      owners: owners.length,
      largest,
      refused: { ...this.#refused },
      reclaimed: this.#reclaimed,
    };
  }

  /** Called by its reservations. */
  grow(reservation: Reservation, more: number): void {
    const { owner } = reservation;
    if (this.#owners.get(owner)?.has(reservation) !== true) throw new NoRoom(this.#name, "owner");
    this.#makeRoom(owner, more, reservation);
    this.#queue.hold(owner, more);
    reservation.amount += more;
    this.#noteLargest(owner);
  }

  /** Called by its reservations. */
  release(reservation: Reservation): void {
    const { owner, amount } = reservation;
    const all = this.#owners.get(owner);
    if (all?.delete(reservation) !== true) return;
    if (all.size === 0) this.#owners.delete(owner);
    this.#queue.release(owner, amount);
    this.#serve();
  }

  #fits(owner: OwnerKey, amount: number): boolean {
    return this.#queue.usedBy(owner) + amount <= this.#row.perOwner;
  }

  #reserve(owner: OwnerKey, amount: number, options = NO_OPTIONS): Reservation {
    const reservation = new Reservation(this, owner, amount, options);
    const all = this.#owners.get(owner);
    if (all === undefined) this.#owners.set(owner, new Set([reservation]));
    else all.add(reservation);
    this.#noteLargest(owner);
    return reservation;
  }

  #noteLargest(owner: OwnerKey): void {
    this.#largest = Math.max(this.#largest, this.#queue.usedBy(owner));
  }

  /** A piece that is too large for what is free is waited for, so that it gets its turn. */
  #serve(): void {
    for (let next = this.#queue.next(); next !== undefined; next = this.#queue.next()) {
      next.item.begin();
    }
  }

  /** Refuses an owner with its share of the queue; when all is full, the last of the longest queue makes room. */
  #boundQueue(owner: OwnerKey): void {
    const { queue, queuePerOwner } = this.#row;
    const own = this.#queue.lengthOf(owner);
    const isFull = own >= queuePerOwner || this.#queue.lengthOfNet(owner) >= queue * NET_PART;
    if (isFull) throw this.#refuse(owner, "owner");
    if (this.waiting < queue) return;
    const last = this.#queue.last();
    if (last === undefined || this.#queue.lengthOf(last.owner) <= own + 1) {
      throw this.#refuse(owner, "all");
    }
    this.#queue.remove(last);
    last.item.refuse(this.#refuse(last.owner, "owner"));
  }

  /** Ends work of the owner, where it displaces its own, or of one with more than an equal part for one with less. Throws `NoRoom`. */
  #makeRoom(owner: OwnerKey, amount: number, by: TakeOptions): void {
    while (!this.#fits(owner, amount)) {
      if (by.displaces !== true || !this.#reclaim(owner, by)) throw this.#refuse(owner, "owner");
    }
    while (this.used + amount > this.#row.total) {
      const owners = new Set([...this.#owners.keys(), owner]);
      const equalPart = this.#row.total / owners.size;
      const usedBy = (one: OwnerKey): number => this.#queue.usedBy(one);
      const largest = largestBy(owners, usedBy) ?? owner;
      const isDue = usedBy(owner) + amount <= equalPart && usedBy(largest) > equalPart;
      if (!isDue || !this.#reclaim(largest, by)) throw this.#refuse(owner, "all");
    }
  }

  /** Ends the oldest work of an owner that can be ended, except the work that asks; false when there is none. */
  #reclaim(owner: OwnerKey, by: TakeOptions): boolean {
    for (const reservation of this.#owners.get(owner) ?? []) {
      if (reservation === by || reservation.reclaim === undefined) continue;
      this.#reclaimed += 1;
      this.#tell(owner);
      reservation.reclaim();
      this.release(reservation);
      return true;
    }
    return false;
  }

  #refuse(owner: OwnerKey, why: WhyNoRoom): NoRoom {
    this.#refused[why] += 1;
    if (why === "owner") this.#tell(owner);
    return new NoRoom(this.#name, why);
  }

  #tell(owner: OwnerKey): void {
    const [used, waiting] = [this.#queue.usedBy(owner), this.#queue.lengthOf(owner)];
    this.#throttled({ resource: this.#name, owner, used, waiting });
  }
}

export type AllFigures = ReadonlyMap<ResourceName, ShareFigures>;

type Overrides = Partial<
  Record<ResourceName, Partial<Pick<Resource, "total" | "perOwner" | "queuePerOwner">>>
>;

export const ONE_OWNER = {
  registry: {
    perOwner: RESOURCES.registry.total,
    queuePerOwner: RESOURCES.registry.queue,
  },
} as const satisfies Overrides;

const SERVERS_MAX = 2_000;

export type Shares = ReturnType<typeof createShares>;

export function createShares(throttled?: OnThrottled, over: Overrides = {}) {
  const made = (name: ResourceName): Share =>
    new Share(name, { ...RESOURCES[name], ...over[name] }, throttled);
  const shares = new Map(RESOURCE_NAMES.map((name) => [name, made(name)]));
  const servers = new Map<string, Share>();
  const parts: (() => AllFigures | undefined)[] = [];
  return {
    of(name: ResourceName): Share {
      const share = shares.get(name);
      if (share === undefined) throw new Error(`no such resource: ${name}`);
      return share;
    },
    registry(server: string): Share {
      const share = servers.get(server) ?? made("registry");
      // Beyond the bound a share is not kept: callers could invent host names.
      if (servers.size < SERVERS_MAX) servers.set(server, share);
      return share;
    },
    /** Those of all registries are one. */
    figures(): AllFigures {
      const ofServers = [...servers.values()].map(
        (share) => ["registry", share.figures()] as const,
      );
      const ofOthers = parts.flatMap((others) => [...(others() ?? [])]);
      const all = new Map([...shares].map(([name, share]) => [name, share.figures()]));
      for (const [name, figures] of [...ofServers, ...ofOthers]) {
        const own = all.get(name);
        if (own !== undefined) all.set(name, added(own, figures));
      }
      return all;
    },
    /** From now on the figures of another thread, which uses other resources, are part of these. */
    include: (others: () => AllFigures | undefined) => void parts.push(others),
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
